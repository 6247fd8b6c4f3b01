#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "rungs/median_rule.h"

namespace attune {

// Column by column, so that a state of 10^5 trials is a few long texts.
json MedianRule::save() const {
  std::vector<double> trials, lengths, times, losses, lasts, yields, completed, soft_stopped;
  for (const auto& [trial, curve] : curves_) {
    trials.push_back(static_cast<double>(trial));
    lengths.push_back(static_cast<double>(curve.times.size()));
    times.insert(times.end(), curve.times.begin(), curve.times.end());
    losses.insert(losses.end(), curve.losses.begin(), curve.losses.end());
    lasts.push_back(curve.last);
    yields.push_back(curve.last_yield);
    completed.push_back(curve.completed);
    soft_stopped.push_back(curve.soft_stopped);
  }
  return {{"trials", save_numbers(trials)},       {"lengths", save_numbers(lengths)},
          {"times", save_numbers(times)},         {"losses", save_numbers(losses)},
          {"lasts", save_numbers(lasts)},         {"yields", save_numbers(yields)},
          {"completed", save_numbers(completed)}, {"soft_stopped", save_numbers(soft_stopped)}};
}

Result<void> MedianRule::load(const json& state) {
  const auto trials = TRY(numbers_at(state, "trials"));
  const auto lengths = TRY(numbers_at(state, "lengths"));
  const auto times = TRY(numbers_at(state, "times"));
  const auto losses = TRY(numbers_at(state, "losses"));
  const auto lasts = TRY(numbers_at(state, "lasts"));
  const auto yields = TRY(numbers_at(state, "yields"));
  const auto completed = TRY(numbers_at(state, "completed"));
  const auto soft_stopped = TRY(numbers_at(state, "soft_stopped"));
  for (const auto* column : {&lengths, &lasts, &yields, &completed, &soft_stopped}) {
    if (column->size() != trials.size()) return fail("median rule: columns of different length");
  }
  const auto all = static_cast<double>(times.size());
  if (times.size() != losses.size()) return fail("median rule: a result without a time");

  MedianRule loaded(options_);
  std::size_t next = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!is_whole(trials[i]) || !is_index(lengths[i], all - static_cast<double>(next) + 1) ||
        !is_index(completed[i], 2) || !is_index(soft_stopped[i], 2) || !std::isfinite(lasts[i]) ||
        std::isnan(yields[i])) {
      return fail("median rule: an impossible trial");
    }
    const auto trial = static_cast<TrialId>(trials[i]);
    const auto [place, is_new] = loaded.curves_.try_emplace(trial);
    if (!is_new) return fail("median rule: a trial stands twice");
    Curve& curve = place->second;
    const auto length = static_cast<std::ptrdiff_t>(lengths[i]);
    const auto from = static_cast<std::ptrdiff_t>(next);
    curve.times.assign(times.begin() + from, times.begin() + from + length);
    curve.losses.assign(losses.begin() + from, losses.begin() + from + length);
    next += static_cast<std::size_t>(length);
    const auto finite = [](double x) { return std::isfinite(x); };
    if (!std::ranges::all_of(curve.times, finite) || !std::ranges::all_of(curve.losses, finite) ||
        !std::ranges::is_sorted(curve.times) ||
        (length > 0 && !std::ranges::binary_search(curve.times, lasts[i]))) {
      return fail("median rule: times must ascend, and be finite as losses are");
    }
    for (const double loss : curve.losses) curve.best = std::min(curve.best, loss);
    curve.last = lasts[i];
    curve.last_yield = yields[i];
    curve.completed = completed[i] == 1;
    curve.soft_stopped = soft_stopped[i] == 1;
    loaded.enter(trial, curve, kNever);
  }
  if (next != times.size()) return fail("median rule: results of no trial");
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
