#include "tuners/history.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "math/straighten.h"
#include "tuners/objectives.h"

namespace attune {
namespace {

constexpr double kMostExcess = 3;  // how far a limit was missed says little of where it is kept

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

std::vector<double> scaled(std::span<const double> values, Scale scale) {
  switch (scale) {
    case Scale::standardised:
      return standardised(values);
    case Scale::straightened:
      return straightened(values);
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

}  // namespace

std::vector<double> targets(const History& history, std::span<const std::size_t> members,
                            Scale scale, std::size_t output) {
  std::vector<double> values;
  for (const std::size_t i : members) {
    if (history.kind(i) == History::Kind::usable) values.push_back(history.values(i)[output]);
  }
  const std::vector<double> usable = scaled(values, scale);
  std::vector<double> sorted = usable;
  std::ranges::sort(sorted);
  const double least = scale == Scale::limit ? 1 : sorted.front();  // of what has no result
  const double worst = std::max(sorted.back(), least);
  const double upper = sorted[3 * (sorted.size() - 1) / 4];
  std::vector<double> all;
  auto next = usable.begin();
  for (const std::size_t i : members) {
    const History::Kind kind = history.kind(i);
    all.push_back(kind == History::Kind::usable    ? *next++
                  : kind == History::Kind::stopped ? upper
                                                   : worst);
  }
  return all;
}

}  // namespace attune
