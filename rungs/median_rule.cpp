#include "rungs/median_rule.h"

#include <algorithm>
#include <cmath>

#include "math/pairwise_sum.h"

namespace attune {
// Of all numbers but one that equals `own`; of all if that is NaN.
MedianRule::Median MedianRule::median_without(const SortedNumbers& numbers, double own) {
  const bool without = !std::isnan(own);
  const std::size_t n = numbers.size() - (without ? 1 : 0);
  if (n == 0) return {};
  const std::size_t left_out = without ? numbers.count_below(own) : n;
  const auto at = [&](std::size_t rank) { return numbers[rank + (rank >= left_out ? 1 : 0)]; };
  return {n, n % 2 ? at(n / 2) : (at(n / 2 - 1) + at(n / 2)) / 2};
}

MedianRule::Median MedianRule::median_of(std::vector<double> numbers) {
  const std::size_t n = numbers.size();
  if (n == 0) return {};
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::ranges::nth_element(numbers, middle);
  if (n % 2) return {n, *middle};
  return {n, (*std::max_element(numbers.begin(), middle) + *middle) / 2};
}

bool MedianRule::counts(const Curve& curve) const {
  return curve.completed || !options_.completed_only;
}

// Until when the trial is compared with: Ray since 2019 asks for the result that came last.
double MedianRule::end_of(const Curve& curve) const {
  if (curve.times.empty()) return 0;
  return options_.completed_only ? curve.times.back() : curve.last;
}

// Nothing: no result in this range of time, or the sum overflows.
std::optional<double> MedianRule::mean_at(const Curve& curve, double time) const {
  const auto first = options_.completed_only
                         ? curve.times.begin()
                         : std::ranges::lower_bound(curve.times, options_.grace);
  // Most often the time is the last one.
  const auto end = curve.times.empty() || curve.times.back() <= time
                       ? curve.times.end()
                       : std::upper_bound(first, curve.times.end(), time);
  if (first >= end) return std::nullopt;
  const double result = mean(std::span(curve.losses)
                                 .subspan(static_cast<std::size_t>(first - curve.times.begin()),
                                          static_cast<std::size_t>(end - first)));
  if (!std::isfinite(result)) return std::nullopt;
  return result;
}

// Calls change(list, mean) for all lists of times after `after` in which the curve stands.
template <class Change>
void MedianRule::change_lists(const Curve& curve, double after, Change change) {
  if (curve.times.empty()) return;
  const double until = options_.completed_only ? -kNever : curve.last;
  auto list = after < curve.times.front() ? means_.lower_bound(curve.times.front())
                                          : means_.upper_bound(after);
  for (; list != means_.end() && list->first <= until; ++list) {
    if (const auto mean = mean_at(curve, list->first)) change(list->second, *mean);
  }
}

void MedianRule::enter(TrialId trial, const Curve& curve, double after) {
  if (!counts(curve) || curve.times.empty()) return;
  by_end_.try_emplace({end_of(curve), trial}, &curve);
  change_lists(curve, after, [](SortedNumbers& list, double mean) { list.insert(mean); });
}

void MedianRule::leave(TrialId trial, const Curve& curve) {
  if (by_end_.erase({end_of(curve), trial}) == 0) return;
  change_lists(curve, kNever, [](SortedNumbers& list, double mean) { list.erase(mean); });
}

void MedianRule::append(TrialId trial, Curve& curve, TimedLoss result) {
  const auto& [time, loss] = result;
  // Then the lists up to the last time stay as they are. A completed trial stands in later ones,
  // too.
  const bool ascends =
      curve.times.empty() || (curve.last == curve.times.back() && time > curve.last);
  const bool simple = ascends && !(options_.completed_only && curve.completed);
  const double before = simple && !curve.times.empty() ? curve.last : kNever;
  if (simple) {
    by_end_.erase({end_of(curve), trial});
  } else {
    leave(trial, curve);
  }
  const auto place = std::ranges::upper_bound(curve.times, time);
  curve.losses.insert(curve.losses.begin() + (place - curve.times.begin()), loss);
  curve.times.insert(place, time);
  curve.last = time;
  curve.best = std::min(curve.best, loss);
  enter(trial, curve, before);
}

MedianRule::Judgement MedianRule::report(TrialId trial, TimedLoss result, bool others_wait) {
  Curve& curve = curves_[trial];
  if (curve.soft_stopped) return {};
  append(trial, curve, result);
  return judge(trial, curve, others_wait);
}

MedianRule::Judgement MedianRule::rewrite(TrialId trial, std::span<const TimedLoss> results,
                                          bool others_wait) {
  Curve& curve = curves_[trial];
  if (curve.soft_stopped) return {};
  leave(trial, curve);
  Curve fresh;
  fresh.last_yield = curve.last_yield;
  curve = std::move(fresh);
  for (const TimedLoss& result : results) append(trial, curve, result);
  return results.empty() ? Judgement{} : judge(trial, curve, others_wait);
}

MedianRule::Judgement MedianRule::judge(TrialId trial, Curve& curve, bool others_wait) {
  const double time = curve.last;
  if (options_.completed_only ? time <= options_.grace : time < options_.grace) return {};
  const auto [others, median] = others_median(trial, curve, time);
  Judgement judgement = {Verdict::good, time, curve.best, median, others};
  if (others < std::max<std::size_t>(options_.min_samples, 1)) {
    if (!options_.completed_only && others_wait &&
        time - curve.last_yield > options_.min_time_slice) {
      curve.last_yield = time;
      judgement.verdict = Verdict::yield;
    }
  } else if (median < curve.best) {
    judgement.verdict = Verdict::worse;
    curve.soft_stopped = !options_.hard_stop;
  }
  return judgement;
}

MedianRule::Median MedianRule::others_median(TrialId trial, const Curve& curve, double time) {
  // Nothing changes after the last result of all trials that count.
  const double latest = by_end_.empty() ? time : by_end_.rbegin()->first.first;
  time = std::min(time, latest);
  // NaN: the trial does not stand in the list of this time.
  const double own = counts(curve) ? mean_at(curve, time).value_or(kNone) : kNone;
  const auto list = means_.find(time);
  if (list != means_.end()) return median_without(list->second, own);

  std::vector<double> means;
  std::size_t results = 0;  // at exactly this time
  auto other = options_.completed_only
                   ? by_end_.begin()
                   : by_end_.lower_bound({time, std::numeric_limits<TrialId>::min()});
  for (; other != by_end_.end(); ++other) {
    if (other->first.second == trial) continue;
    const Curve& its = *other->second;
    if (const auto mean = mean_at(its, time)) {
      means.push_back(*mean);
      results += std::ranges::binary_search(its.times, time);
    }
  }
  if (results > 0 && (results * kMostPerResult >= means.size() || time == latest)) {
    SortedNumbers& made = means_[time];
    for (const double mean : means) made.insert(mean);
    if (!std::isnan(own)) made.insert(own);
  }
  return median_of(std::move(means));
}

void MedianRule::complete(TrialId trial, std::optional<TimedLoss> result) {
  if (!result && !curves_.contains(trial)) return;
  Curve& curve = curves_[trial];
  if (result) append(trial, curve, *result);
  if (curve.completed) return;
  curve.completed = true;
  if (options_.completed_only) enter(trial, curve, kNever);
}

bool MedianRule::soft_stopped(TrialId trial) const {
  const auto found = curves_.find(trial);
  return found != curves_.end() && found->second.soft_stopped;
}

void MedianRule::forget(TrialId trial) {
  const auto found = curves_.find(trial);
  if (found == curves_.end()) return;
  leave(trial, found->second);
  curves_.erase(found);
}

}  // namespace attune
