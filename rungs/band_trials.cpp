#include "rungs/band_trials.h"

#include <utility>

#include "base/saved_numbers.h"

namespace attune {

void BandTrials::begin(TrialId trial, double budget) {
  runners_[trial] = {.trial = trial, .budget = budget};
  quota_.begin(trial);
}

void BandTrials::withdraw(TrialId trial) {
  runners_.erase(trial);
  successors_.erase(trial);
  quota_.take_back(trial);
}

BandTrials::Runner BandTrials::go_on(TrialId configuration, TrialId next, double budget) {
  Runner& runner = runners_.at(configuration);
  const Runner former = runner;
  runner.budget = budget;
  if (!former.ended) return former;
  runner.trial = next;
  runner.ended = false;
  successors_[next] = configuration;
  quota_.begin(next);
  return former;
}

TrialId BandTrials::configuration_of(TrialId trial) const {
  const auto found = successors_.find(trial);
  return found == successors_.end() ? trial : found->second;
}

std::optional<TrialId> BandTrials::run_by(TrialId trial) const {
  const TrialId configuration = configuration_of(trial);
  const auto found = runners_.find(configuration);
  const bool runs = found != runners_.end() && found->second.trial == trial && !found->second.ended;
  return runs ? std::optional(configuration) : std::nullopt;
}

std::vector<TrialId> BandTrials::configurations() const {
  std::vector<TrialId> all;
  for (const auto& [configuration, runner] : runners_) all.push_back(configuration);
  for (const auto& [trial, stop] : stops_) all.push_back(stop.configuration);
  return all;
}

std::optional<std::pair<TrialId, BandTrials::Stop>> BandTrials::resume_stop() {
  for (auto& [trial, stop] : stops_) {
    if (!std::exchange(stop.resumed, true)) return std::pair(trial, stop);
  }
  return std::nullopt;
}

bool BandTrials::told(TrialId trial, End end) {
  successors_.erase(trial);
  stops_.erase(trial);
  return quota_.end(trial, end);
}

json BandTrials::save() const {
  json runners = json::array(), successors = json::array(), stops = json::array();
  for (const auto& [configuration, one] : runners_) {
    runners.push_back(
        {configuration, one.trial, save_numbers(std::span(&one.budget, 1)), one.ended, one.reason});
  }
  for (const auto& [trial, configuration] : successors_) {
    successors.push_back({trial, configuration});
  }
  for (const auto& [trial, one] : stops_) {
    stops.push_back({trial, one.configuration, save_numbers(std::span(&one.budget, 1)), one.reason,
                     one.complete, one.resumed});
  }
  return {{"quota", quota_.save()},
          {"runners", std::move(runners)},
          {"successors", std::move(successors)},
          {"stops", std::move(stops)}};
}

namespace {

// Whether the value is an array of the types that `types` names: i(nteger), n(umbers), t(ext),
// b(oolean).
bool band_row(const json& value, std::string_view types) {
  if (!value.is_array() || value.size() != types.size()) return false;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const json& one = value[i];
    const bool fits = types[i] == 'i'   ? one.is_number_integer()
                      : types[i] == 'b' ? one.is_boolean()
                                        : one.is_string();
    if (!fits) return false;
  }
  return true;
}

Result<double> band_budget(const json& value) {
  const auto budget = TRY(numbers(value));
  if (budget.size() != 1 || !(budget[0] > 0)) return fail("saved state: a budget must be positive");
  return budget[0];
}

}  // namespace

Result<void> BandTrials::load(const json& state, const Bands& bands) {
  BandTrials loaded(quota_);
  TRY(loaded.quota_.load(TRY(object_at(state, "quota"))));
  for (const json& one : TRY(array_at(state, "successors"))) {
    if (!band_row(one, "ii")) return fail("saved state: a trial that goes on is damaged");
    loaded.successors_[one[0]] = one[1];
  }
  for (const json& one : TRY(array_at(state, "runners"))) {
    if (!band_row(one, "iinbt")) return fail("saved state: a trial of a bracket is damaged");
    const TrialId configuration = one[0], trial = one[1];
    const Bands::Trial* const known = bands.find(configuration);
    const bool ended = one[3];
    if (!known || (!ended && loaded.configuration_of(trial) != configuration) ||
        (ended && known->state == Bands::State::running)) {
      return fail("saved state: a trial of a bracket that is not there");
    }
    loaded.runners_[configuration] = {trial, TRY(band_budget(one[2])), ended, one[4]};
  }
  if (loaded.runners_.size() != bands.live()) {
    return fail("saved state: nobody runs a configuration of a bracket");
  }
  for (const json& one : TRY(array_at(state, "stops"))) {
    if (!band_row(one, "iintbb")) return fail("saved state: a trial to be stopped is damaged");
    loaded.stops_[one[0]] = {one[1], TRY(band_budget(one[2])), one[3], one[4], one[5]};
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
