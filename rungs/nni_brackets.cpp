#include "rungs/nni_brackets.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/saved_numbers.h"

namespace attune {
namespace {

// NNI's, so that a quotient that is whole but for rounding is not rounded to a neighbour.
constexpr double kRoundingSlack = 1e-6;

}  // namespace

NniBrackets::NniBrackets(std::int64_t most, std::int64_t factor, bool serial)
    : most_(static_cast<double>(most)), factor_(static_cast<double>(factor)), serial_(serial) {
  s_max_ =
      static_cast<std::size_t>(std::floor(std::log(most_) / std::log(factor_) + kRoundingSlack));
}

// Of a bracket with s halvings: rounds 0 to s.
std::size_t NniBrackets::last_round(std::int64_t bracket) const {
  return s_max_ - static_cast<std::size_t>(bracket) % (s_max_ + 1);
}

std::size_t NniBrackets::trials(std::int64_t bracket, std::size_t round) const {
  const auto s = static_cast<double>(last_round(bracket));
  const double first =
      std::ceil(static_cast<double>(s_max_ + 1) * std::pow(factor_, s) / (s + 1) - kRoundingSlack);
  return static_cast<std::size_t>(
      std::floor(first / std::pow(factor_, static_cast<double>(round)) + kRoundingSlack));
}

double NniBrackets::budget(std::int64_t bracket, std::size_t round) const {
  const double first = most_ / std::pow(factor_, static_cast<double>(last_round(bracket)));
  return std::floor(first * std::pow(factor_, static_cast<double>(round)) + kRoundingSlack);
}

std::optional<NniBrackets::Job> NniBrackets::take(bool may_open) {
  if (ready_.empty()) {
    if (!may_open) return std::nullopt;
    const auto newest = brackets_.find(next_ - 1);
    const bool under_way =
        newest != brackets_.end() && newest->second.round < last_round(newest->first);
    if (serial_ && under_way) return std::nullopt;
    const std::int64_t id = next_++;
    brackets_[id] = {.trials = trials(id, 0)};
    ready_.push_back({id, trials(id, 0)});
  }
  Ready& ready = ready_.front();
  const Job job{ready.bracket, budget(ready.bracket, brackets_.at(ready.bracket).round),
                ready.from};
  if (ready.from || --ready.fresh == 0) ready_.pop_front();
  return job;
}

void NniBrackets::begin(TrialId trial, const Job& job) {
  running_[trial] = {.bracket = job.bracket, .from = job.from};
}

void NniBrackets::give_back(const Job& job) {
  const bool joins =
      !job.from && !ready_.empty() && ready_.front().bracket == job.bracket && !ready_.front().from;
  if (joins) {
    ++ready_.front().fresh;
  } else {
    ready_.push_front({job.bracket, job.from ? std::size_t{0} : std::size_t{1}, job.from});
  }
}

void NniBrackets::take_back(TrialId trial) {
  const Running& running = running_.at(trial);
  give_back({.bracket = running.bracket, .from = running.from});
  running_.erase(trial);
}

void NniBrackets::value(TrialId trial, double loss) {
  Running& running = running_.at(trial);
  auto& results = brackets_.at(running.bracket).results;
  if (!running.result) {
    running.result = results.size();
    results.emplace_back(trial, loss);
  }
  results[*running.result].second = loss;
}

std::optional<NniBrackets::Round> NniBrackets::end(TrialId trial) {
  const std::int64_t bracket = running_.at(trial).bracket;
  running_.erase(trial);
  ++brackets_.at(bracket).ended;
  return close_if_ended(bracket);
}

std::vector<NniBrackets::Round> NniBrackets::vacate() {
  for (const Ready& ready : ready_) brackets_.at(ready.bracket).trials -= ready.fresh;
  std::erase_if(ready_, [](const Ready& ready) { return !ready.from; });
  std::vector<std::int64_t> ids;
  for (const auto& [id, bracket] : brackets_) ids.push_back(id);
  std::vector<Round> rounds;
  for (const std::int64_t id : ids) {
    if (auto round = close_if_ended(id)) rounds.push_back(*std::move(round));
  }
  return rounds;
}

std::optional<NniBrackets::Round> NniBrackets::close_if_ended(std::int64_t id) {
  Bracket& bracket = brackets_.at(id);
  if (bracket.ended < bracket.trials) return std::nullopt;
  Round round{.budget = budget(id, bracket.round)};
  auto results = std::move(bracket.results);
  std::erase_if(results, [](const auto& result) { return std::isnan(result.second); });
  std::ranges::stable_sort(results, {}, &std::pair<TrialId, double>::second);
  round.results = results.size();
  const bool last = bracket.round == last_round(id);
  const std::size_t next = last ? 0 : std::min(trials(id, bracket.round + 1), results.size());
  for (std::size_t k = 0; k < results.size(); ++k) {
    (k < next ? round.best : round.rest).push_back(results[k].first);
  }
  if (next == 0) {
    brackets_.erase(id);
    return round;
  }
  bracket = {.round = bracket.round + 1, .trials = next};
  for (const TrialId trial : round.best) ready_.push_back({id, 0, trial});
  return round;
}

bool NniBrackets::in_last_round(TrialId trial) const {
  const std::int64_t bracket = running_.at(trial).bracket;
  return brackets_.at(bracket).round == last_round(bracket);
}

std::vector<TrialId> NniBrackets::ended() const {
  std::vector<TrialId> all;
  for (const auto& [id, bracket] : brackets_) {
    for (const auto& [trial, loss] : bracket.results) {
      if (!running_.contains(trial) && !std::isnan(loss)) all.push_back(trial);
    }
  }
  for (const Ready& ready : ready_) {
    if (ready.from) all.push_back(*ready.from);
  }
  return all;
}

json NniBrackets::save() const {
  json brackets = json::array(), ready = json::array(), running = json::array();
  for (const auto& [id, bracket] : brackets_) {
    json trials = json::array();
    std::vector<double> losses;
    for (const auto& [trial, loss] : bracket.results) {
      trials.push_back(trial);
      losses.push_back(loss);
    }
    brackets.push_back({{"id", id},
                        {"round", bracket.round},
                        {"trials", bracket.trials},
                        {"ended", bracket.ended},
                        {"results", std::move(trials)},
                        {"losses", save_numbers(losses)}});
  }
  const auto or_none = [](const auto& x) { return x ? json::array({*x}) : json::array(); };
  for (const Ready& one : ready_) ready.push_back({one.bracket, one.fresh, or_none(one.from)});
  for (const auto& [trial, one] : running_) {
    running.push_back({trial, one.bracket, or_none(one.result), or_none(one.from)});
  }
  return {{"next", next_},
          {"brackets", std::move(brackets)},
          {"ready", std::move(ready)},
          {"running", std::move(running)}};
}

}  // namespace attune
