#include "manager/app/earlier_experiments.h"

#include <fmt/format.h>

#include <algorithm>

#include "manager/store/schema.h"
#include "manager/store/store_reader.h"
#include "protocol/earlier_limits.h"

namespace attune {
namespace {

struct Scored {
  std::int64_t trial = 0;
  double loss = 0;
};

// The best most / 2, and evenly spaced ones of the rest.
std::vector<Scored> picked(std::vector<Scored> all, std::size_t most) {
  std::ranges::stable_sort(all, {}, &Scored::loss);
  if (all.size() <= most) return all;
  const std::size_t best = most / 2;
  const std::size_t others = most - best;
  for (std::size_t i = 0; i < others; ++i) {
    all[best + i] = all[best + i * (all.size() - best) / others];
  }
  all.resize(most);
  return all;
}

// Without what the search space does not know, which may be much. Null: no object.
json known_ones(const json& parameters, const json& search_space) {
  if (!parameters.is_object()) return nullptr;
  json known = json::object();
  for (const auto& [name, value] : parameters.items()) {
    if (search_space.contains(name)) known[name] = value;
  }
  return known;
}

// At most `most` of them. `search_space`: of the experiment that learns.
Result<json> trials_of(StoreReader& reader, const StoredExperiment& stored,
                       const json& search_space, std::size_t most) {
  const Objective& objective = stored.objective();
  const auto loss_of = [&](const TrialRecord& trial) {
    auto score = trial.score(objective.metric);
    if (score && objective.maximize) score = -*score;
    return score;
  };
  std::vector<Scored> all;
  TrialFilter filter;
  filter.statuses = {TrialStatus::succeeded};
  TRY(reader.trials(stored, filter, [&](const TrialRecord& trial) {
    if (const auto loss = loss_of(trial)) all.push_back({trial.sequence, *loss});
    return true;
  }));
  filter.numbers.emplace();
  for (const Scored& each : picked(std::move(all), most)) filter.numbers->push_back(each.trial);
  std::ranges::sort(*filter.numbers);
  json trials = json::array();
  TRY(reader.trials(stored, filter, [&](const TrialRecord& trial) {
    json parameters = known_ones(trial.proposed.parameters, search_space);
    if (!parameters.is_null()) {
      trials.push_back({{"parameters", std::move(parameters)}, {"loss", *loss_of(trial)}});
    }
    return true;
  }));
  return trials;
}

}  // namespace

EarlierResults read_earlier_results(const Experiment& experiment, const std::string& own_id) {
  EarlierResults results;
  const std::size_t count = experiment.learn_from.size();
  if (count > kMostEarlier) {
    results.problems.push_back(
        fmt::format("learnFrom: {} experiments; at most {} are possible", count, kMostEarlier));
    return results;
  }
  const std::size_t most = most_earlier_trials(count, experiment.space.params.size());
  // `name`: as in the key. Adds what its experiment found.
  const auto read = [&](const std::string& name) -> Result<void> {
    const bool is_folder = name.contains('/');
    const std::string own = experiment.working_directory.string();
    if (!is_folder) TRY(bring_up_to_date(own));
    StoreReader reader = TRY(StoreReader::open(is_folder ? name : own));
    const StoredExperiment stored = TRY(reader.find(is_folder ? "" : name));
    if (stored.id == own_id) return {};
    json trials = TRY(trials_of(reader, stored, experiment.search_space, most));
    results.folders.push_back(is_folder ? name : stored.directory.string());
    const std::string shown = stored.name.empty() ? stored.id : stored.name;
    if (trials.empty()) {
      results.messages.push_back(
          fmt::format("warning: experiment {} has no results to learn from", shown));
      return {};
    }
    results.messages.push_back(
        fmt::format("learns from {} results of experiment {}", trials.size(), shown));
    results.for_daemon.push_back({{"name", shown}, {"trials", std::move(trials)}});
    return {};
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (const auto done = read(experiment.learn_from[i]); !done)
      results.problems.push_back(fmt::format("learnFrom[{}]: {}", i, done.error().message));
  }
  return results;
}

}  // namespace attune
