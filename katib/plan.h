#pragma once
// What a Katib experiment asks for: the parameters, the objective, the tuner and its arguments.
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "katib/api.pb.h"
#include "katib/parameter.h"
#include "tuners/registry.h"

namespace attune::katib {

// The text of a value for each parameter, in the order of the parameters.
using Values = std::vector<std::string>;

struct Plan {
  std::string experiment = {};
  std::vector<Parameter> parameters = {};
  json search_space = {};  // docs/search-space.md; the keys are the names of the parameters
  Objective objective = {};
  std::vector<std::string> additional_metrics = {};  // without the objective
  std::string tuner = {};
  json tuner_arguments = json::object();  // with optimize_mode
  std::optional<int> max_trials = {}, concurrency = {};
  // What an earlier answer of ours has put into the settings (kEchoSetting); empty: nothing.
  std::string echo = {};
  // Two experiments with the same identity get the same proposals. What may change while an
  // experiment runs (limits, goal) is no part of it.
  std::string identity = {};
};

// All that GetSuggestions needs, or the first mistake: where it is, and what is accepted.
Result<Plan> read_plan(const api::v1::beta1::Experiment& experiment, const TunerRegistry& tuners);

// The same for ValidateAlgorithmSettings, where an experiment may come without parameters and
// without an objective: then only the algorithm and its settings are checked. With parameters it
// also checks whether the tuner can search them.
Result<void> check_experiment(const api::v1::beta1::Experiment& experiment,
                              const TunerRegistry& tuners);

// Between the texts of Katib and the values of attune.
// Leaves out the parameters whose text is none of their values.
json parameters_of(const Plan& plan, const Values& values);
Values values_of(const Plan& plan, const json& parameters);

// A number that depends on the text alone, on every machine.
std::uint64_t hash_of(std::string_view text);

// The name of the setting in which an answer keeps what the next request needs.
inline constexpr std::string_view kEchoSetting = "attune-state";

}  // namespace attune::katib
