#include "tuners/parts/history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "math/gp/powers.h"
#include "math/gp/straighten.h"
#include "tuners/parts/objectives.h"

namespace attune {
namespace {

constexpr std::size_t kNear = 5;    // nearest results that say what a failed trial would have given
constexpr double kNearest = 1e-12;  // added to squared distances, which may be 0
// Squared distance to the nearest result, per dimension, at which a failure counts halfway between
// its neighbours and the worst. It is the square of the length scale that the prior of the Gaussian
// process expects: 0.22 sqrt(d). This constant and the powers in around() are measured: within 60
// evaluations of functions of which 5 to 20 % fail by accident, GP gets to a regret 100 times
// smaller than if failures count as the worst, and to no larger one where a part of the space
// fails.
constexpr double kFar = 0.05;
// A failure is an accident if less than this blames the place, and if at most so many other
// failures are nearer than the nearest result. With more, twice as many trials fail where the best
// results are at the border of a part that fails, and as much is found (docs/algorithms.md).
constexpr double kAccident = 0.5, kMostNearer = 1;
// Larger excesses are clipped: how far a limit was missed says little about where it is kept.
constexpr double kMostExcess = 3;

}  // namespace

void History::add(std::span<const double> row, Kind kind, std::span<const double> values) {
  ATTUNE_CHECK(values.size() == width_);
  rows_.insert(rows_.end(), row.begin(), row.end());
  kinds_.push_back(kind);
  for (const double value : values) values_.push_back(kind == Kind::usable ? value : 0);
  usable_ += kind == Kind::usable ? 1 : 0;
}

std::vector<double> History::gather(std::span<const std::size_t> members) const {
  std::vector<double> rows;
  rows.reserve(members.size() * dimensions_);
  for (const std::size_t i : members) {
    const auto one = row(i);
    rows.insert(rows.end(), one.begin(), one.end());
  }
  return rows;
}

std::vector<std::size_t> History::ranked(std::vector<std::size_t> members) const {
  if (width_ == 1) {
    std::ranges::stable_sort(members, {},
                             [&](std::size_t i) { return std::pair(kind(i), loss(i)); });
    return members;
  }
  std::ranges::stable_sort(members, {}, [&](std::size_t i) { return kind(i); });
  std::vector<std::size_t> usable;  // they come first
  std::vector<double> results;
  for (const std::size_t i : members) {
    if (kind(i) != Kind::usable) break;
    usable.push_back(i);
    results.insert(results.end(), values(i).begin(), values(i).end());
  }
  auto next = members.begin();
  for (const std::size_t i : ranking(results, objectives_, limits())) *next++ = usable[i];
  return members;
}

std::vector<std::size_t> thinned(std::vector<std::size_t> ranked, std::size_t most) {
  if (ranked.size() > most) {
    const std::size_t kept = most / 2;
    const std::size_t others = most - kept;
    for (std::size_t i = 0; i < others; ++i) {
      ranked[kept + i] = ranked[kept + i * (ranked.size() - kept) / others];
    }
    ranked.resize(most);
  }
  std::ranges::sort(ranked);
  return ranked;
}

std::vector<std::size_t> modelled(const History& history, std::size_t most) {
  std::vector<std::size_t> all(history.size());
  std::iota(all.begin(), all.end(), 0);
  return all.size() > most ? thinned(history.ranked(std::move(all)), most) : all;
}

namespace {

std::vector<double> scaled(std::span<const double> values, const Scaling& scaling) {
  switch (scaling.scale) {
    case Scale::standardised:
      return standardised(to_power(values, scaling.power));
    case Scale::straightened:
      return straightened(to_power(values, scaling.power));
    case Scale::limit:
      break;
  }
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value));
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::ranges::nth_element(distances, middle);
  const double unit = std::isnormal(*middle) ? *middle : 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    distances[i] = std::clamp(values[i] / unit, -kMostExcess, kMostExcess);
  }
  return distances;
}

// The squared distance of two rows; each dimension adds at most 1. Categories count by the
// difference of their numbers, which is at least 1 if they differ. NaN (inactive) differs from
// every number by 1.
double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool inactive = a[i] != a[i], other_inactive = b[i] != b[i];
    const double apart = inactive || other_inactive ? (inactive == other_inactive ? 0.0 : 1.0)
                                                    : std::min(std::abs(a[i] - b[i]), 1.0);
    sum += apart * apart;
  }
  return sum;
}

// What is around a failed member.
struct Surroundings {
  std::vector<std::pair<double, std::size_t>> results;  // the nearest: squared distance and place
  double nearer = 0;  // other failures, nearer than the nearest result
  // In [0, 1): how much this speaks for a part of the space that fails. It is larger the further
  // away the results are, and the more other failures are nearer than they are.
  double blame = 0;
};

Surroundings around(const History& history, std::span<const std::size_t> members,
                    std::size_t failed) {
  const std::span<const double> row = history.row(failed);
  Surroundings found;
  std::vector<double> failures;  // distances
  for (std::size_t k = 0; k < members.size(); ++k) {
    const History::Kind kind = history.kind(members[k]);
    if (members[k] == failed || kind == History::Kind::stopped) continue;
    const double apart = distance(history.row(members[k]), row);
    if (kind == History::Kind::usable) {
      found.results.emplace_back(apart, k);
    } else {
      failures.push_back(apart);
    }
  }
  const std::size_t count = std::min(found.results.size(), kNear);
  std::ranges::partial_sort(found.results,
                            found.results.begin() + static_cast<std::ptrdiff_t>(count));
  found.results.resize(count);
  const double nearest = found.results.front().first;
  found.nearer = static_cast<double>(
      std::ranges::count_if(failures, [&](double apart) { return apart < nearest; }));
  const double far = kFar * static_cast<double>(std::max<std::size_t>(row.size(), 1));
  const double ratio = std::pow(nearest / far, 1.5) * std::pow(1 + found.nearer, 2);
  found.blame = ratio / (1 + ratio);
  return found;
}

// The target of a failed member, between the mean of the nearest results (weighted by inverse
// squared distance) and the worst target: so the model shuns a part of the space that fails. As the
// worst value, a failure amid results would be a cliff, and a model of a smooth function would then
// distrust all results around it.
double softened(const Surroundings& surroundings, std::span<const double> known, double worst) {
  double mean = 0, weights = 0;
  for (const auto& [apart, place] : surroundings.results) {
    const double weight = 1 / (apart + kNearest);
    weights += weight;
    mean += weight / weights * (known[place] - mean);
  }
  return mean + surroundings.blame * (worst - mean);
}

}  // namespace

std::vector<std::size_t> without_accidents(const History& history,
                                           std::span<const std::size_t> members) {
  std::vector<std::size_t> kept;
  for (const std::size_t i : members) {
    if (history.kind(i) == History::Kind::useless) {
      const Surroundings surroundings = around(history, members, i);
      if (surroundings.blame < kAccident && surroundings.nearer <= kMostNearer) continue;
    }
    kept.push_back(i);
  }
  return kept;
}

std::vector<double> targets(const History& history, std::span<const std::size_t> members,
                            const Scaling& scaling, std::size_t output, Failures failures) {
  std::vector<double> values;
  for (const std::size_t i : members) {
    if (history.kind(i) == History::Kind::usable) values.push_back(history.values(i)[output]);
  }
  const std::vector<double> usable = scaled(values, scaling);
  std::vector<double> sorted = usable;
  std::ranges::sort(sorted);
  // The worst target is at least this: for a limit, so that a failed trial counts as breaking it.
  const double least = scaling.scale == Scale::limit ? 1 : sorted.front();
  const double worst = std::max(sorted.back(), least);
  const double upper = sorted[3 * (sorted.size() - 1) / 4];
  std::vector<double> known;
  auto next = usable.begin();
  for (const std::size_t i : members) {
    const History::Kind kind = history.kind(i);
    known.push_back(kind == History::Kind::usable    ? *next++
                    : kind == History::Kind::stopped ? upper
                                                     : std::numeric_limits<double>::quiet_NaN());
  }
  std::vector<double> all = known;
  for (std::size_t k = 0; k < members.size(); ++k) {
    if (known[k] == known[k]) continue;
    all[k] = failures == Failures::worst
                 ? worst
                 : softened(around(history, members, members[k]), known, worst);
  }
  return all;
}

}  // namespace attune
