#include "rungs/promotion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/saved_numbers.h"
#include "rungs/levels.h"

namespace attune {

PromotionRungs::PromotionRungs(Options options) : options_(std::move(options)) {
  for (std::size_t k = 0; k < options_.levels.size(); ++k) {
    rungs_.push_back({.level = options_.levels[k]});
    const bool highest = k + 1 == options_.levels.size();
    const std::int64_t above = highest ? options_.max_t : options_.levels[k + 1];
    rungs_.back().share = static_cast<double>(options_.levels[k]) / static_cast<double>(above);
  }
}

std::int64_t PromotionRungs::level(std::size_t rung) const {
  return rung < size() ? rungs_[rung].level : options_.max_t;
}

bool PromotionRungs::enter(std::size_t rung, TrialId trial, const Arrival& arrival) {
  Rung& here = rungs_[rung];
  const auto [at, is_new] = here.places.try_emplace(trial, Place{arrival, here.next});
  if (!is_new) return false;
  ++here.next;
  if (arrival.value.violation > 0) at->second.values.clear();
  if (by_fronts() && arrival.value.violation == 0) {
    compare(here, trial);
  } else {
    add(here, trial, at->second);
  }
  return true;
}

PromotionRungs::Entry PromotionRungs::entry_of(TrialId trial, const Place& place) {
  return {place.value, place.order, trial, place.cost};
}

void PromotionRungs::add(Rung& rung, TrialId trial, const Place& place) const {
  const Entry entry = entry_of(trial, place);
  if (place.value.violation == 0) {
    rung.kept.insert(place.value.loss);
  } else {
    rung.broken.insert(place.value.violation);
  }
  if (options_.rule == Rule::cost) rung.by_value.insert(entry);
  if (place.waits) wait(rung, entry, place.candidate);
}

void PromotionRungs::wait(Rung& rung, const Entry& entry, bool candidate) {
  rung.waiting.insert(entry);
  if (candidate) rung.candidates.insert(entry);
}

void PromotionRungs::leave(Rung& rung, const Entry& entry) {
  rung.waiting.erase(entry);
  rung.candidates.erase(entry);
}

std::optional<PromotionRungs::Promotion> PromotionRungs::promote(std::int64_t limit) {
  for (std::size_t k = size(); k-- > 0;) {
    Rung& rung = rungs_[k];
    if (rung.level >= limit) continue;
    const auto trial = best(rung);
    if (trial) return take(k, *trial);
  }
  return std::nullopt;
}

std::optional<PromotionRungs::Promotion> PromotionRungs::promote_best() {
  for (std::size_t k = size(); k-- > 0;) {
    const auto& waiting = rungs_[k].waiting;
    if (!waiting.empty()) return take(k, waiting.begin()->trial);
  }
  return std::nullopt;
}

PromotionRungs::Promotion PromotionRungs::take(std::size_t k, TrialId trial) {
  Rung& rung = rungs_[k];
  Place& place = rung.places.at(trial);
  leave(rung, entry_of(trial, place));
  if (options_.rule == Rule::cost) rung.by_value.erase(entry_of(trial, place));
  // It comes behind those with an equal value. This matters for the cost of those before them.
  place.order = rung.next++;
  place.waits = false;
  if (options_.rule == Rule::cost) rung.by_value.insert(entry_of(trial, place));
  return {trial, k};
}

// The trial of the rung to be promoted, if there is one.
std::optional<TrialId> PromotionRungs::best(Rung& rung) const {
  if (rung.size() < 2 || rung.waiting.empty()) return std::nullopt;
  const Entry* chosen = &*rung.waiting.begin();
  // With RUSH, candidates need not meet the threshold. A trial that does is better than all that do
  // not, so only two can be meant: the best that waits, and the best candidate that waits.
  if (rung.threshold && chosen->value > *rung.threshold) {
    if (rung.candidates.empty()) return std::nullopt;
    chosen = &*rung.candidates.begin();
  }
  const bool candidate = rung.candidates.contains(*chosen);
  if (candidate && options_.rule == Rule::rush) {
    rung.threshold = std::min(rung.threshold.value_or(chosen->value), chosen->value);
  }
  if (!good_enough(rung, *chosen, candidate)) return std::nullopt;
  return chosen->trial;
}

bool PromotionRungs::good_enough(const Rung& rung, const Entry& entry, bool candidate) const {
  if (rung.size() < 2 || (entry.value.violation > 0 && !rung.kept.empty())) return false;
  if (options_.rule == Rule::cost) {
    return rung.by_value.sum_through(entry) <= rung.by_value.sum() * rung.share;
  }
  const bool meets = candidate || !rung.threshold || entry.value <= *rung.threshold;
  return meets && rung.within(entry.value, options_.maximise);
}

// How many trials at the rung have a better value.
std::size_t PromotionRungs::Rung::better_than(const RungValue& value) const {
  if (value.violation == 0) return kept.count_below(value.loss);
  return kept.size() + broken.count_below(value.violation);
}

// Without broken limits and failures the cutoff is Syne Tune's. With them there is no number to
// interpolate to at the lower end: then the rank decides, which is the same rule without rounding.
bool PromotionRungs::Rung::within(const RungValue& value, bool maximise) const {
  if (broken.empty()) return value.loss <= *cutoff(maximise);
  return static_cast<double>(better_than(value)) <= static_cast<double>(size() - 1) * share;
}

// The loss that is good enough. Nothing: no loss is, or any that keeps the limits.
std::optional<double> PromotionRungs::Rung::cutoff(bool maximise) const {
  if (broken.empty()) return syne_cutoff(kept, share, maximise);
  const auto rank = static_cast<std::size_t>(static_cast<double>(size() - 1) * share);
  return size() > 1 && rank < kept.size() ? std::optional(kept[rank]) : std::nullopt;
}

void PromotionRungs::give_up(std::size_t rung, TrialId trial) {
  const auto found = rungs_[rung].places.find(trial);
  if (found == rungs_[rung].places.end()) return;
  found->second.waits = false;
  leave(rungs_[rung], entry_of(trial, found->second));
}

void PromotionRungs::put_back(std::size_t rung, TrialId trial) {
  const auto found = rungs_[rung].places.find(trial);
  if (found == rungs_[rung].places.end()) return;
  const bool is_compared = std::ranges::count(rungs_[rung].newest, trial) > 0;
  if (by_fronts() && found->second.value.violation == 0 && !is_compared) return;
  found->second.waits = true;
  wait(rungs_[rung], entry_of(trial, found->second), found->second.candidate);
}

const PromotionRungs::Place* PromotionRungs::place(std::size_t rung, TrialId trial) const {
  const auto found = rungs_[rung].places.find(trial);
  return found == rungs_[rung].places.end() ? nullptr : &found->second;
}

PromotionRungs::Standing PromotionRungs::standing(std::size_t rung, TrialId trial) const {
  const Rung& here = rungs_[rung];
  const Place& place = here.places.at(trial);
  Standing result{.rank = here.better_than(place.value) + 1, .size = here.size()};
  result.good_enough = good_enough(here, entry_of(trial, place), place.candidate);
  if (options_.rule != Rule::cost) result.needed = here.cutoff(options_.maximise);
  if (result.needed && !place.candidate && here.threshold && here.threshold->violation == 0) {
    result.needed = std::min(*result.needed, here.threshold->loss);
  }
  return result;
}

json PromotionRungs::save() const {
  json state = json::array();
  for (const Rung& rung : rungs_) state.push_back(save(rung));
  return state;
}

json PromotionRungs::save(const Rung& rung) const {
  std::vector<double> places, threshold, newest, values;
  for (const auto& [trial, place] : rung.places) {
    places.insert(places.end(), {static_cast<double>(trial), place.value.violation,
                                 place.value.loss, place.cost, static_cast<double>(place.order),
                                 place.candidate ? 1.0 : 0.0, place.waits ? 1.0 : 0.0});
    values.insert(values.end(), place.values.begin(), place.values.end());
  }
  if (rung.threshold) threshold = {rung.threshold->violation, rung.threshold->loss};
  for (const TrialId trial : rung.newest) newest.push_back(static_cast<double>(trial));
  return {{"places", save_numbers(places)},
          {"threshold", save_numbers(threshold)},
          {"blocks", save_numbers(rung.by_value.block_sizes())},
          {"newest", save_numbers(newest)},
          {"values", save_numbers(values)},
          {"next", rung.next}};
}

Result<void> PromotionRungs::load(const json& state) {
  if (!state.is_array() || state.size() != size()) {
    return fail("saved state: " + std::to_string(size()) + " rungs expected");
  }
  std::vector<Rung> rungs;
  for (std::size_t k = 0; k < size(); ++k) rungs.push_back(TRY(load(rungs_[k], state[k])));
  rungs_ = std::move(rungs);
  return {};
}

// Level and share are those of `like`.
Result<PromotionRungs::Rung> PromotionRungs::load(const Rung& like, const json& state) const {
  constexpr std::size_t kNumbers = 7;
  const auto is_flag = [](double x) { return x == 0 || x == 1; };
  const auto is_value = [](double violation, double loss) {
    return violation >= 0 && !std::isnan(loss) && (std::isfinite(loss) || violation > 0);
  };
  Rung rung{.level = like.level, .share = like.share};
  const auto next = TRY(integer_at(state, "next"));
  if (next < 0) return fail("saved state: a rung has counted below 0");
  rung.next = static_cast<std::uint64_t>(next);
  const auto numbers = TRY(numbers_at(state, "places"));
  if (numbers.size() % kNumbers != 0) return fail("saved state: a place at a rung is damaged");
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < numbers.size(); i += kNumbers) {
    const double* const one = &numbers[i];
    const bool valid = is_whole(one[0]) && is_value(one[1], one[2]) && std::isfinite(one[3]) &&
                       one[3] >= 0 && is_index(one[4], static_cast<double>(next)) &&
                       is_flag(one[5]) && is_flag(one[6]);
    if (!valid) return fail("saved state: a place at a rung is damaged");
    const Place place{{{one[1], one[2]}, one[3], one[5] == 1, one[6] == 1},
                      static_cast<std::uint64_t>(one[4])};
    const auto trial = static_cast<TrialId>(one[0]);
    if (!rung.places.emplace(trial, place).second) {
      return fail("saved state: a trial has two places at a rung");
    }
    entries.push_back(entry_of(trial, place));
  }
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) { return a < b; });
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (!(entries[i - 1] < entries[i])) return fail("saved state: two trials have one place");
  }
  for (const auto& [trial, place] : rung.places) {
    if (!by_fronts() || place.value.violation > 0) add(rung, trial, place);
  }
  TRY(load_newest(rung, state));
  const auto threshold = TRY(numbers_at(state, "threshold"));
  if (threshold.size() == 2 && is_value(threshold[0], threshold[1])) {
    rung.threshold = RungValue{threshold[0], threshold[1]};
  } else if (!threshold.empty()) {
    return fail("saved state: the threshold of a rung is damaged");
  }
  const auto sizes = TRY(numbers_at(state, "blocks"));
  double sum = 0;
  for (const double size : sizes) {
    if (!is_index(size - 1, PromotionOrder<Entry>::kMost)) sum = -HUGE_VAL;
    sum += size;
  }
  const std::size_t expected = options_.rule == Rule::cost ? entries.size() : 0;
  if (sum != static_cast<double>(expected)) return fail("saved state: the costs are damaged");
  rung.by_value = PromotionOrder<Entry>::restore(std::span(entries).first(expected), sizes);
  return rung;
}

}  // namespace attune
