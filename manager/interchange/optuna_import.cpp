#include "manager/interchange/optuna_import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/objective_json.h"
#include "manager/interchange/flat_names.h"
#include "manager/interchange/optuna_space.h"
#include "manager/interchange/optuna_study.h"
#include "os/atomic_file.h"
#include "space/parse.h"

namespace attune {
namespace {

Result<OptunaStudy> chosen_study(std::vector<OptunaStudy> studies, const std::string& name) {
  std::vector<std::string> names;
  for (OptunaStudy& study : studies) {
    if (study.name == name || (name.empty() && studies.size() == 1)) return std::move(study);
    names.push_back(study.name);
  }
  if (names.empty()) return fail("there is no study in it");
  return fail(fmt::format("{}: {}",
                          name.empty() ? "name one of its studies with --study"
                                       : fmt::format("no study is called {}; there are", name),
                          fmt::join(names, ", ")));
}

json constraints_of(const OptunaTrial& trial) {
  json values = trial.system_attributes.value(kOptunaConstraints, json::array());
  return values.is_array() ? values : json::array();
}

// The objectives of a study. Its constraints follow as metrics with a limit.
std::vector<Objective> objectives_in(const OptunaStudy& study) {
  const json ours = study.user_attributes.value("attune:objectives", json());
  if (ours.is_array()) {
    std::vector<Objective> objectives = objectives_of(ours);
    const auto free =
        std::ranges::count_if(objectives, [](const Objective& o) { return !o.limit; });
    if (free == std::ssize(study.directions)) return objectives;
  }
  const json names = study.system_attributes.value(kOptunaMetricNames, json::array());
  std::vector<Objective> objectives;
  for (std::size_t i = 0; i < study.directions.size(); ++i) {
    const bool named = names.is_array() && i < names.size() && names[i].is_string();
    const std::string name = named                          ? names[i].get<std::string>()
                             : study.directions.size() == 1 ? "default"
                                                            : fmt::format("values_{}", i);
    objectives.push_back({name, study.directions[i] == kOptunaMaximize, {}});
  }
  std::size_t constraints = 0;
  for (const OptunaTrial& trial : study.trials)
    constraints = std::max(constraints, constraints_of(trial).size());
  for (std::size_t i = 0; i < constraints; ++i)
    objectives.push_back({fmt::format("constraint_{}", i), false, 0});
  return objectives;
}

// The result of a trial as attune's trials report it. Null: a number is missing.
json result_of(const OptunaTrial& trial, const std::vector<Objective>& objectives) {
  const json excesses = constraints_of(trial);
  json result = json::object();
  std::size_t free = 0, limited = 0;
  for (const Objective& objective : objectives) {
    if (!objective.limit) {
      if (free == trial.values.size()) return nullptr;
      result[objective.metric] = trial.values[free++];
      continue;
    }
    if (limited == excesses.size() || !excesses[limited].is_number()) return nullptr;
    const double excess = excesses[limited++].get<double>();
    result[objective.metric] = *objective.limit + (objective.maximize ? -excess : excess);
  }
  return objectives.size() == 1 ? result.begin().value() : result;
}

const char* status_of(OptunaState state) {
  switch (state) {
    case OptunaState::complete:
      return "succeeded";
    case OptunaState::pruned:
      return "early_stopped";
    case OptunaState::failed:
      return "failed";
    case OptunaState::waiting:
      return "pending";
    case OptunaState::running:
      return "running";
  }
  return "";
}

// How the parameters of a study's trials become those of attune's.
class Translation {
 public:
  static Result<Translation> of(const OptunaStudy& study, Losses& losses);

  const json& search_space() const { return search_space_; }
  json parameters(const OptunaTrial& trial) const;

 private:
  json search_space_;
  std::optional<Space> known_;  // attune has exported the study, and said the space
  std::vector<std::string> names_;
  std::optional<OptunaSpace> found_;
};

Result<Translation> Translation::of(const OptunaStudy& study, Losses& losses) {
  Translation translation;
  translation.search_space_ = study.user_attributes.value("attune:search_space", json());
  if (auto known = parse_space(translation.search_space_)) {
    translation.known_ = *std::move(known);
    translation.names_ = flat_names(*translation.known_);
    return translation;
  }
  // A trial that has failed may not have come to all of its parameters.
  std::vector<const OptunaTrial*> sound, all;
  for (const OptunaTrial& trial : study.trials) {
    all.push_back(&trial);
    if (trial.state == OptunaState::complete || trial.state == OptunaState::pruned)
      sound.push_back(&trial);
  }
  if (sound.empty()) sound = all;
  for (const OptunaTrial* trial : all) {
    for (const auto& [name, number] : trial->numbers)
      if (std::ranges::none_of(sound,
                               [&](const auto* each) { return each->find(name) != nullptr; }))
        losses.add(
            fmt::format("{}: left out, because only failed or running trials have it", name));
  }
  auto found = OptunaSpace::of(sound, losses);
  if (!found) return fail(fmt::format("study {}: {}", study.name, found.error().message));
  translation.found_ = *std::move(found);
  translation.search_space_ = translation.found_->declaration(losses);
  return translation;
}

json Translation::parameters(const OptunaTrial& trial) const {
  json ours = trial.user_attributes.value("attune:parameters", json());
  if (ours.is_object()) return ours;
  if (found_) return found_->parameters(trial);
  Point point{std::vector<double>(known_->params.size(), Point::kInactive)};
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const double* number = trial.find(names_[i]);
    if (number == nullptr || !is_active(*known_, point, i)) continue;
    const Domain& domain = known_->params[i].domain;
    const auto* choice = std::get_if<Choice>(&domain);
    constexpr double kMostInteger = 9007199254740992;  // 2^53
    const bool fits =
        choice == nullptr
            ? std::abs(*number) < kMostInteger || !std::holds_alternative<IntRange>(domain)
            : *number >= 0 && *number < static_cast<double>(choice->candidates.size());
    if (fits && !std::holds_alternative<Subset>(domain)) point.values[i] = *number;
  }
  return to_json(*known_, point);
}

json row_of(const OptunaTrial& trial, const Translation& translation,
            const std::vector<Objective>& objectives) {
  json row = {{"trial_job_id", fmt::format("optuna-{}", trial.number)},
              {"status", status_of(trial.state)}};
  if (trial.started) row["started"] = *trial.started;
  if (trial.ended) row["ended"] = *trial.ended;
  row["parameters"] = translation.parameters(trial);
  // Optuna keeps the last intermediate value of a pruned trial as its value.
  if (trial.state == OptunaState::complete || trial.state == OptunaState::pruned) {
    json result = result_of(trial, objectives);
    if (!result.is_null()) row["value"] = std::move(result);
  }
  if (!trial.user_attributes.empty()) row["attributes"] = trial.user_attributes;
  json curve = json::object();
  for (const auto& [step, value] : trial.intermediate)
    curve.get_ref<json::object_t&>().emplace_back(std::to_string(step), value);
  if (!curve.empty()) row["reports"] = std::move(curve);
  return row;
}

void tell_states(const OptunaStudy& study, Losses& losses) {
  const auto count = [&](OptunaState state) {
    return std::ranges::count_if(study.trials, [&](const OptunaTrial& trial) {
      return trial.state == state && trial.values.empty();
    });
  };
  for (const auto& [state, word] : {std::pair(OptunaState::pruned, "pruned"),
                                    {OptunaState::failed, "failed"},
                                    {OptunaState::waiting, "waiting"},
                                    {OptunaState::running, "running"}}) {
    if (const auto trials = count(state); trials > 0)
      losses.add(fmt::format("{} {} trials have no result for the tuner", trials, word));
  }
}

}  // namespace

Result<AdoptedExperiment> adopt_optuna_journal(std::string_view text, const std::string& name) {
  const OptunaStudy study = TRY(chosen_study(TRY(parse_optuna_journal(text)), name));
  AdoptedExperiment adopted;
  adopted.name = study.name;
  const Translation translation = TRY(Translation::of(study, adopted.losses));
  const std::vector<Objective> objectives = objectives_in(study);
  adopted.file = {{"experimentName", study.name}, {"searchSpace", translation.search_space()}};
  const json constraints = study.user_attributes.value("attune:constraints", json());
  if (constraints.is_array()) adopted.file["constraints"] = constraints;
  adopted.file["objectives"] = to_json(objectives);
  for (const OptunaTrial& trial : study.trials)
    adopted.rows.push_back(row_of(trial, translation, objectives));
  tell_states(study, adopted.losses);
  return adopted;
}

Result<AdoptedExperiment> adopt_optuna(const std::filesystem::path& file, const std::string& name) {
  auto adopted = adopt_optuna_journal(TRY(read_file(file.string())), name);
  if (!adopted) return fail(fmt::format("{}: {}", file.string(), adopted.error().message));
  return adopted;
}

}  // namespace attune
