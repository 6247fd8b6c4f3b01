#include "manager/dashboard/experiment_facts.h"

#include <algorithm>
#include <string>

#include "base/overloaded.h"
#include "manager/cli/commands/searched_space.h"

namespace attune {
namespace {

constexpr double kFirstRealTime = 1e8;       // seconds since 1970
constexpr std::size_t kMostChoices = 1'000;  // of a parameter; the page has no room for more

json member(const json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object[key] : json();
}

json metric_json(const Objective& objective) {
  json limit;
  if (objective.limit) limit = {{objective.maximize ? "min" : "max", *objective.limit}};
  return {{"metric", objective.metric},
          {"optimize_mode", objective.maximize ? "maximize" : "minimize"},
          {"limit", limit}};
}

json real_json(bool log, const std::optional<double>& step) {
  return {{"log", log}, {"step", step ? json(*step) : json()}};
}

json domain_json(const Domain& domain) {
  return std::visit(
      Overloaded{
          [](const Choice& choice) -> json {
            return {
                {"kind", "choice"}, {"log", false}, {"choices", choice_texts(choice.candidates)}};
          },
          [](const Subset& subset) -> json {
            return {
                {"kind", "subset"}, {"log", false}, {"choices", choice_texts(subset.candidates)}};
          },
          [](const IntRange& range) -> json {
            return {
                {"kind", "integer"}, {"log", false}, {"low", range.low}, {"high", range.high - 1}};
          },
          [](const Uniform& uniform) {
            json object = real_json(uniform.log, uniform.q);
            object.update(json{{"kind", "real"}, {"low", uniform.low}, {"high", uniform.high}});
            return object;
          },
          [](const Normal& normal) {
            json object = real_json(normal.log, normal.q);
            object["kind"] = "normal";
            return object;
          }},
      domain);
}

}  // namespace

std::vector<std::string> choice_texts(const std::vector<json>& candidates) {
  std::vector<std::string> texts;
  for (const json& candidate : candidates) {
    if (texts.size() == kMostChoices) break;
    const bool named = candidate.is_object() && candidate.contains("_name");
    const json& shown = named ? candidate["_name"] : candidate;
    texts.push_back(shown.is_string() ? shown.get<std::string>() : dump_json(shown));
  }
  return texts;
}

void add_facts(json& object, const StoredExperiment& experiment, double now) {
  const json& file = experiment.file;
  object["concurrency"] = member(file, "trialConcurrency");
  object["max_trials"] = member(file, "maxTrialNumber");
  object["max_seconds"] = member(file, "maxExperimentDuration");
  object["tuner"] = member(member(file, "tuner"), "name");
  // The clock of a simulation is virtual: it begins in 1970, and the manager alone knows its time.
  const bool goes_on =
      experiment.status == ExperimentStatus::running && experiment.manager_started > kFirstRealTime;
  object["seconds"] =
      goes_on ? std::max(experiment.seconds, now - experiment.manager_started) : experiment.seconds;
  object["metrics"] = json::array();
  for (const Objective& objective : experiment.objectives)
    object["metrics"].push_back(metric_json(objective));
}

json space_json(const StoredExperiment& experiment) {
  json list = json::array();
  const auto space = searched_space(experiment);
  if (!space) return list;
  for (const Param& param : space->params) {
    json object = domain_json(param.domain);
    object["name"] = param.path;
    object["condition"] = nullptr;
    if (param.condition)
      object["condition"] = {{"parent", param.condition->parent},
                             {"branch", param.condition->branch}};
    list.push_back(std::move(object));
  }
  return list;
}

}  // namespace attune
