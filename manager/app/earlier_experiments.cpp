#include "manager/app/earlier_experiments.h"

#include <fmt/format.h>

#include <algorithm>

#include "manager/store/store_reader.h"
#include "protocol/earlier_limits.h"

namespace attune {
namespace {

struct Scored {
  std::int64_t trial = 0;
  double loss = 0;
};

// The best kMostEarlierTrials / 2, and evenly spaced ones of the rest.
std::vector<Scored> picked(std::vector<Scored> all) {
  std::ranges::stable_sort(all, {}, &Scored::loss);
  if (all.size() <= kMostEarlierTrials) return all;
  constexpr std::size_t kBest = kMostEarlierTrials / 2;
  const std::size_t others = kMostEarlierTrials - kBest;
  for (std::size_t i = 0; i < others; ++i) {
    all[kBest + i] = all[kBest + i * (all.size() - kBest) / others];
  }
  all.resize(kMostEarlierTrials);
  return all;
}

Result<json> trials_of(StoreReader& reader, const StoredExperiment& stored) {
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
  for (const Scored& each : picked(std::move(all))) filter.numbers->push_back(each.trial);
  std::ranges::sort(*filter.numbers);
  json trials = json::array();
  TRY(reader.trials(stored, filter, [&](const TrialRecord& trial) {
    json parameters = trial.proposed.parameters;
    if (parameters.is_object()) {
      trials.push_back({{"parameters", std::move(parameters)}, {"loss", *loss_of(trial)}});
    }
    return true;
  }));
  return trials;
}

}  // namespace

Result<EarlierResults> read_earlier_results(const Experiment& experiment,
                                            const std::string& own_id) {
  EarlierResults results;
  if (experiment.learn_from.size() > kMostEarlier) {
    return fail(fmt::format("learnFrom: {} experiments; at most {} are possible",
                            experiment.learn_from.size(), kMostEarlier));
  }
  for (std::size_t i = 0; i < experiment.learn_from.size(); ++i) {
    const std::string& name = experiment.learn_from[i];
    const auto failed = [&](const Error& error) {
      return fail(fmt::format("learnFrom[{}]: {}", i, error.message));
    };
    const bool is_folder = name.contains('/');
    auto reader = StoreReader::open(is_folder ? name : experiment.working_directory.string());
    if (!reader) return failed(reader.error());
    const auto stored = reader->find(is_folder ? "" : name);
    if (!stored) return failed(stored.error());
    if (stored->id == own_id) continue;
    auto trials = trials_of(*reader, *stored);
    if (!trials) return failed(trials.error());
    results.folders.push_back(stored->directory.string());
    const std::string shown = stored->name.empty() ? stored->id : stored->name;
    if (trials->empty()) {
      results.messages.push_back(
          fmt::format("warning: experiment {} has no results to learn from", shown));
      continue;
    }
    results.messages.push_back(
        fmt::format("learns from {} results of experiment {}", trials->size(), shown));
    results.for_daemon.push_back({{"name", shown}, {"trials", *std::move(trials)}});
  }
  return results;
}

}  // namespace attune
