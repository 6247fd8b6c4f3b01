#include "tuners/history.h"

#include <algorithm>
#include <numeric>

#include "math/straighten.h"

namespace attune {

History::Kind History::kind_of(const Outcome& outcome) {
  if (outcome.end == End::stopped) return Kind::stopped;
  return outcome.usable() ? Kind::usable : Kind::useless;
}

void History::add(std::span<const double> row, Kind kind, double loss) {
  rows_.insert(rows_.end(), row.begin(), row.end());
  kinds_.push_back(kind);
  losses_.push_back(kind == Kind::usable ? loss : 0);
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
  std::vector<std::size_t> ranked(history.size());
  std::iota(ranked.begin(), ranked.end(), 0);
  if (ranked.size() <= most) return ranked;
  std::ranges::stable_sort(ranked, {}, [&](std::size_t i) {
    return std::pair(history.kind(i), history.loss(i));  // the usable come first
  });
  return thinned(std::move(ranked), most);
}

std::vector<double> targets(const History& history, std::span<const std::size_t> members,
                            Scale scale) {
  std::vector<double> losses;
  for (const std::size_t i : members) {
    if (history.kind(i) == History::Kind::usable) losses.push_back(history.loss(i));
  }
  std::vector<double> usable =
      scale == Scale::straightened ? straightened(losses) : standardised(losses);
  std::vector<double> sorted = usable;
  std::ranges::sort(sorted);
  const double worst = sorted.back();
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
