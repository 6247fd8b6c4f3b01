#pragma once
// Converts values to the texts and numbers in the columns of the store, and back.
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "backends/ending_text.h"
#include "backends/trial_backend.h"
#include "base/json.h"
#include "base/result.h"
#include "manager/trials/runner_state.h"
#include "manager/trials/trial_record.h"

namespace attune {

// JSON by dump_python_json(), which can write NaN and infinity. null becomes the empty text, which
// the statements store as NULL.
std::string metric_column(const json& metric);

// The value of the first objective, whose name is `objective`, in a metric as a trial reports it:
// the member of that name, or the bare number. NaN and infinity are values, too.
std::optional<double> number_of(const json& metric, const std::string& objective);

std::string_view to_text(ReportMetricData::Type type);  // "periodical"

inline constexpr std::array kTrialStatuses = {TrialStatus::pending,      TrialStatus::running,
                                              TrialStatus::paused,       TrialStatus::succeeded,
                                              TrialStatus::failed,       TrialStatus::early_stopped,
                                              TrialStatus::user_canceled};

// Nothing: an unknown word.
std::optional<TrialStatus> trial_status_of(std::string_view text);
std::optional<TrialSource> trial_source_of(std::string_view text);

// The column conversations.manager: a JSON object. Error: it is no such object.
std::string state_column(const RunnerState& state);
Result<RunnerState> runner_state_of(const std::string& text);

ParameterId parameter_id_of(const json& value);

}  // namespace attune
