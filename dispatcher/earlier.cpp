#include "dispatcher/earlier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "protocol/earlier_limits.h"

namespace attune {
namespace {

Result<EarlierExperiment::Trial> read_trial(const json& value, const std::string& where) {
  if (!value.is_object()) return fail(where + ": an object expected");
  const json parameters = value.value("parameters", json());
  if (!parameters.is_object()) return fail(where + ".parameters: an object expected");
  const json loss = value.value("loss", json());
  if (!loss.is_number() || !std::isfinite(loss.get<double>())) {
    return fail(where + ".loss: a finite number expected");
  }
  return EarlierExperiment::Trial{parameters, loss.get<double>()};
}

Result<EarlierExperiment> read_experiment(const json& value, const std::string& where) {
  if (!value.is_object()) return fail(where + ": an object expected");
  EarlierExperiment experiment;
  const json name = value.value("name", json());
  if (!name.is_string()) return fail(where + ".name: a string expected");
  experiment.name = name.get<std::string>();
  const auto trials = value.find("trials");
  if (trials == value.end() || !trials->is_array()) {
    return fail(where + ".trials: a list expected");
  }
  if (trials->size() > kMostEarlierTrials) {
    return fail(fmt::format("{}.trials: {} trials; at most {} are possible", where, trials->size(),
                            kMostEarlierTrials));
  }
  for (const json& trial : *trials) {
    experiment.trials.push_back(
        TRY(read_trial(trial, fmt::format("{}.trials[{}]", where, experiment.trials.size()))));
  }
  return experiment;
}

// Nothing: the trial has no parameter of the space, or a value that the space excludes.
std::optional<Point> point_of(const Space& space, const json& parameters) {
  Point point{known_values(space, parameters)};
  bool shares = false;
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    const Param& param = space.params[i];
    if (param.condition || !parameters.contains(param.name)) continue;
    if (!point.active(i)) return std::nullopt;
    shares = true;
  }
  return shares ? std::optional(std::move(point)) : std::nullopt;
}

}  // namespace

Result<std::vector<EarlierExperiment>> read_earlier(const json& earlier) {
  std::vector<EarlierExperiment> all;
  if (earlier.is_null()) return all;
  if (!earlier.is_array()) return fail("earlier: a list expected");
  if (earlier.size() > kMostEarlier) {
    return fail(fmt::format("earlier: {} experiments; at most {} are possible", earlier.size(),
                            kMostEarlier));
  }
  for (const json& each : earlier) {
    all.push_back(TRY(read_experiment(each, fmt::format("earlier[{}]", all.size()))));
  }
  return all;
}

std::vector<EarlierTask> tasks_in(const Space& space, std::span<const EarlierExperiment> earlier,
                                  const Log& log) {
  std::vector<EarlierTask> tasks;
  for (const EarlierExperiment& experiment : earlier) {
    EarlierTask task{.name = experiment.name, .points = {}, .losses = {}};
    for (const auto& [parameters, loss] : experiment.trials) {
      if (auto point = point_of(space, parameters)) {
        task.points.push_back(*std::move(point));
        task.losses.push_back(loss);
      }
    }
    if (task.points.empty()) {
      log.warning(
          "nothing is learnt from the experiment {}: none of its {} results has a parameter of "
          "this search space, with values within it",
          experiment.name, experiment.trials.size());
      continue;
    }
    log.info("learns from {} of {} results of the experiment {}", task.points.size(),
             experiment.trials.size(), experiment.name);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace attune
