#pragma once
// Reads the studies in the text of a journal file of Optuna, by the rules by which Optuna replays
// it.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "manager/interchange/optuna_journal.h"

namespace attune {

struct OptunaTrial {
  std::int64_t number = 0;  // in its study, from 0
  OptunaState state = OptunaState::running;
  // In the order in which they were suggested.
  std::vector<std::pair<std::string, double>> numbers;  // internal ones
  std::map<std::string, json> distributions;            // {"name", "attributes"}
  std::vector<double> values;                           // empty: none
  std::map<std::int64_t, double> intermediate;
  json user_attributes = json::object(), system_attributes = json::object();
  std::optional<double> started, ended;  // seconds since 1970-01-01 UTC

  const double* find(const std::string& name) const;  // null: the trial has no such parameter
};

struct OptunaStudy {
  std::string name;
  std::vector<int> directions;
  json user_attributes = json::object(), system_attributes = json::object();
  std::vector<OptunaTrial> trials;
};

// Deleted studies are left out, and so is a last line that is not whole: its writer was killed.
// Errors name the line.
Result<std::vector<OptunaStudy>> parse_optuna_journal(std::string_view text);

}  // namespace attune
