#include "math/pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace attune {
namespace {

class Rows {
 public:
  Rows(std::span<const double> rows, std::size_t objectives)
      : rows_(rows), objectives_(objectives) {}

  std::size_t size() const { return rows_.size() / objectives_; }
  std::span<const double> operator[](std::size_t i) const {
    return rows_.subspan(i * objectives_, objectives_);
  }
  double at(std::size_t i, std::size_t objective) const {
    return rows_[i * objectives_ + objective];
  }

 private:
  std::span<const double> rows_;
  std::size_t objectives_;
};

std::vector<std::size_t> count_up(std::size_t n) {
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// Sorts indices by their rows, lexicographically. Then a row stands behind every row that dominates
// it, and equal rows are neighbours.
void sort_by_rows(const Rows& rows, std::vector<std::size_t>& indices) {
  std::ranges::stable_sort(indices, [&](std::size_t a, std::size_t b) {
    return std::ranges::lexicographical_compare(rows[a], rows[b]);
  });
}

// Whether a member of a front dominates the row. In the sorted order the row stands behind all
// members.
bool is_dominated(const Rows& rows, const std::vector<std::size_t>& members, std::size_t row) {
  return std::any_of(members.rbegin(), members.rend(),
                     [&](std::size_t member) { return dominates(rows[member], rows[row]); });
}

// The fronts of rows with one or two objectives. In the sorted order no member of a front has a
// smaller second objective than its last one, so only the last ones need be kept and compared.
std::vector<std::size_t> fronts_of_pairs(const Rows& rows) {
  struct Pair {
    double first, second;
    std::size_t row;
    auto operator<=>(const Pair&) const = default;
  };
  std::vector<Pair> pairs(rows.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i] = {rows[i].front(), rows[i].size() < 2 ? 0 : rows[i][1], i};
  }
  std::ranges::sort(pairs);
  // Each has its second objective first. So one that dominates is less.
  std::vector<std::pair<double, double>> lasts;
  std::vector<std::size_t> front_of(rows.size());
  for (const Pair& pair : pairs) {
    const std::pair own(pair.second, pair.first);
    const auto found =
        std::ranges::partition_point(lasts, [&](const auto& last) { return last < own; });
    front_of[pair.row] = static_cast<std::size_t>(found - lasts.begin());
    if (found == lasts.end()) {
      lasts.push_back(own);
    } else {
      *found = own;
    }
  }
  return front_of;
}

// (above - below) / (high - low) without overflow; high > low.
double share(double below, double above, double low, double high) {
  if (std::isfinite(high - low)) return (above - below) / (high - low);
  return (above / 2 - below / 2) / (high / 2 - low / 2);
}

}  // namespace

std::vector<std::size_t> nondominated_fronts(std::span<const double> values,
                                             std::size_t objectives) {
  const Rows rows(values, objectives);
  if (objectives <= 2) return fronts_of_pairs(rows);
  std::vector<std::size_t> order = count_up(rows.size());
  sort_by_rows(rows, order);
  std::vector<std::vector<std::size_t>> fronts;
  std::vector<std::size_t> front_of(rows.size());
  for (const std::size_t row : order) {
    // A row that a member of a front dominates is also dominated by a member of each earlier front:
    // so a binary search finds the first front without such a member.
    const auto found = std::ranges::partition_point(
        fronts, [&](const auto& members) { return is_dominated(rows, members, row); });
    front_of[row] = static_cast<std::size_t>(found - fronts.begin());
    if (found == fronts.end()) fronts.emplace_back();
    fronts[front_of[row]].push_back(row);
  }
  return front_of;
}

std::vector<double> crowding_distances(std::span<const double> values, std::size_t objectives,
                                       std::span<const std::size_t> front) {
  const Rows all(values, objectives);
  std::vector<double> gathered;
  gathered.reserve(front.size() * objectives);
  for (const std::size_t i : front) gathered.insert(gathered.end(), all[i].begin(), all[i].end());
  const Rows rows(gathered, objectives);

  std::vector<std::size_t> order = count_up(rows.size());
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return front[i]; });
  sort_by_rows(rows, order);
  const auto copies = std::ranges::unique(
      order, [&](std::size_t a, std::size_t b) { return std::ranges::equal(rows[a], rows[b]); });
  order.erase(copies.begin(), copies.end());

  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> distances(rows.size(), 0);
  if (order.size() == 1) distances[order[0]] = kInfinity;
  for (std::size_t objective = 0; objective < objectives; ++objective) {
    const auto value = [&](std::size_t i) { return rows.at(i, objective); };
    std::ranges::stable_sort(order, {}, value);
    if (order.empty() || value(order.front()) == value(order.back())) continue;
    distances[order.front()] = distances[order.back()] = kInfinity;
    for (std::size_t i = 1; i + 1 < order.size(); ++i) {
      distances[order[i]] += share(value(order[i - 1]), value(order[i + 1]), value(order.front()),
                                   value(order.back()));
    }
  }
  return distances;
}

std::vector<std::size_t> crowded_order(std::span<const double> values, std::size_t objectives) {
  const std::vector<std::size_t> front_of = nondominated_fronts(values, objectives);
  std::vector<std::size_t> order = count_up(front_of.size());
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return front_of[i]; });
  std::vector<double> distances(front_of.size());
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::find_if(first, order.end(),
                                   [&](std::size_t i) { return front_of[i] != front_of[*first]; });
    const auto crowding = crowding_distances(values, objectives, {first, last});
    for (auto i = first; i != last; ++i) {
      distances[*i] = crowding[static_cast<std::size_t>(i - first)];
    }
    std::stable_sort(first, last,
                     [&](std::size_t a, std::size_t b) { return distances[a] > distances[b]; });
    first = last;
  }
  return order;
}

}  // namespace attune
