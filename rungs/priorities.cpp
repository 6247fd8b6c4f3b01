#include "rungs/priorities.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/pareto.h"

namespace attune {
namespace {

double euclidean(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  // The root makes distances equal that differ by a rounding, as it does in numpy.linalg.norm.
  return std::sqrt(sum);
}

}  // namespace

std::vector<double> linear_priorities(std::span<const double> rows, std::size_t objectives,
                                      std::span<const double> weights) {
  std::vector<double> means;
  for (std::size_t begin = 0; begin < rows.size(); begin += objectives) {
    double sum = 0;
    for (std::size_t i = 0; i < objectives; ++i) {
      sum += rows[begin + i] * (weights.empty() ? 1 : weights[i]);
    }
    means.push_back(sum / static_cast<double>(objectives));
  }
  return means;
}

std::vector<double> first_priorities(std::span<const double> rows, std::size_t objectives) {
  std::vector<double> firsts;
  for (std::size_t i = 0; i < rows.size(); i += objectives) firsts.push_back(rows[i]);
  return firsts;
}

std::vector<std::size_t> epsilon_net(std::span<const double> rows, std::size_t objectives) {
  const std::size_t n = rows.size() / objectives;
  const auto row = [&](std::size_t i) { return rows.subspan(i * objectives, objectives); };
  std::vector<std::size_t> order;
  // By row: the distance to the nearest row of the order; below 0: it is in the order itself.
  std::vector<double> distances(n, std::numeric_limits<double>::infinity());
  std::size_t next = 0;
  for (std::size_t i = 1; i < n; ++i) {
    if (row(i)[0] < row(next)[0]) next = i;
  }
  while (order.size() < n) {
    order.push_back(next);
    distances[next] = -1;
    const auto chosen = row(next);
    for (std::size_t i = 0; i < n; ++i) {
      if (distances[i] >= 0) distances[i] = std::min(distances[i], euclidean(row(i), chosen));
    }
    next = static_cast<std::size_t>(std::ranges::max_element(distances) - distances.begin());
  }
  return order;
}

std::size_t nondominated_place(std::span<const double> rows, std::size_t objectives,
                               std::size_t row) {
  const std::vector<std::size_t> front_of = nondominated_fronts(rows, objectives);
  std::vector<std::size_t> front;
  std::vector<double> members;
  std::size_t place = 0;
  for (std::size_t i = 0; i < front_of.size(); ++i) {
    if (front_of[i] < front_of[row]) ++place;
    if (front_of[i] != front_of[row]) continue;
    front.push_back(i);
    const auto member = rows.subspan(i * objectives, objectives);
    members.insert(members.end(), member.begin(), member.end());
  }
  for (const std::size_t k : epsilon_net(members, objectives)) {
    if (front[k] == row) break;
    ++place;
  }
  return place;
}

std::size_t better_than_last(std::span<const double> priorities) {
  return static_cast<std::size_t>(
      std::ranges::count_if(priorities, [&](double each) { return each < priorities.back(); }));
}

std::size_t better_by_mean(std::span<const double> rows, std::size_t objectives) {
  return better_than_last(linear_priorities(rows, objectives));
}

std::size_t better_by_first(std::span<const double> rows, std::size_t objectives) {
  return better_than_last(first_priorities(rows, objectives));
}

std::size_t better_by_trade_off(std::span<const double> rows, std::size_t objectives) {
  return nondominated_place(rows, objectives, rows.size() / objectives - 1);
}

}  // namespace attune
