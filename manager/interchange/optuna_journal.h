#pragma once
// What the reader and the writer of Optuna's journal share: a JSON object a line, each an operation
// on studies and trials, which are numbered in the order in which their operations stand in the
// file.
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// Operations of the journal, "op_code".
enum class OptunaOperation {
  create_study = 0,
  delete_study = 1,
  study_user_attribute = 2,
  study_system_attribute = 3,
  create_trial = 4,
  trial_parameter = 5,
  trial_state = 6,
  trial_intermediate_value = 7,
  trial_user_attribute = 8,
  trial_system_attribute = 9
};

enum class OptunaState { running = 0, complete = 1, pruned = 2, failed = 3, waiting = 4 };
inline constexpr int kOptunaMinimize = 1, kOptunaMaximize = 2;

// The names of Optuna's system attributes.
inline constexpr const char* kOptunaConstraints =
    "constraints";  // of a trial: kept if all are <= 0
inline constexpr const char* kOptunaMetricNames = "study:metric_names";  // of a study

// The time as Optuna writes it: "2026-11-20T10:01:56.250000", in the time of this machine.
std::string optuna_time(double seconds);
// Also reads a time with an offset. Nothing: null, or no time.
std::optional<double> seconds_of_optuna_time(const json& text);

}  // namespace attune
