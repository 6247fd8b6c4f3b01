#include "bench/multifidelity/goal.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace attune {
namespace {

constexpr const char* kLoss = "default";
constexpr const char* kSeconds = "seconds";
constexpr int kDraws = 1000;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

Judge::Judge(const Table& table, Goal goal, const json& normalisation)
    : table_(table), goal_(goal) {
  std::vector<Seen> all;
  std::vector<double> losses, seconds;
  for (std::size_t row = 0; row < table.size(); ++row) {
    all.push_back({row, table.last(row)});
    losses.push_back(table.last(row));
    seconds.push_back(table.seconds(row));
  }
  worst_ = std::ranges::max(losses);
  if (goal == Goal::loss) {
    best_ = normalisation.at("best");
    random_ = normalisation.at("random20");
    return;
  }
  most_seconds_ = median(seconds);
  // The reference lies beyond the front by a tenth of its extent; a loss above the median is no
  // trade-off that anybody wants.
  std::ranges::sort(all, {},
                    [&](const Seen& one) { return std::pair(table.seconds(one.row), one.loss); });
  double lowest = HUGE_VAL, most_loss = 0, least_seconds = HUGE_VAL, most_seconds = 0;
  const double middle = median(losses);
  for (const auto& [row, loss] : all) {
    if (loss >= std::min(lowest, middle)) continue;
    lowest = loss;
    most_loss = std::max(most_loss, loss);
    least_seconds = std::min(least_seconds, table.seconds(row));
    most_seconds = std::max(most_seconds, table.seconds(row));
  }
  ideal_[0] = lowest;
  ideal_[1] = least_seconds;
  reference_[0] = std::min(middle, most_loss + 0.1 * (most_loss - lowest));
  reference_[1] = most_seconds + 0.1 * (most_seconds - least_seconds);
  best_ = raw(all);
  Rng rng(1);
  random_ = 0;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<Seen> some;
    for (int k = 0; k < 20; ++k) some.push_back(all[rng.index(all.size())]);
    random_ += raw(some) / kDraws;
  }
}

std::vector<Objective> Judge::objectives() const {
  std::vector<Objective> all = {{kLoss, false}};
  if (goal_ == Goal::tradeoffs) all.push_back({kSeconds, false});
  if (goal_ == Goal::limit) all.push_back({kSeconds, false, most_seconds_});
  return all;
}

Metrics Judge::metrics(std::size_t row, double loss) const {
  if (goal_ == Goal::loss) return {{kLoss, loss}};
  return {{kLoss, loss}, {kSeconds, table_.seconds(row)}};
}

bool Judge::keeps_limit(std::size_t row) const {
  return goal_ != Goal::limit || table_.seconds(row) <= most_seconds_;
}

double Judge::regret(std::span<const Seen> seen) const {
  return (raw(seen) - best_) / (random_ - best_);
}

double Judge::raw(std::span<const Seen> seen) const {
  if (goal_ == Goal::tradeoffs) return uncovered(seen);
  const Seen* best = nullptr;
  for (const Seen& one : seen) {
    if (keeps_limit(one.row) && (!best || one.loss < best->loss)) best = &one;
  }
  return best ? table_.last(best->row) : worst_;
}

// The share of the area between the ideal and the reference that no last result dominates.
double Judge::uncovered(std::span<const Seen> seen) const {
  std::vector<std::pair<double, double>> results;  // seconds, loss
  for (const Seen& one : seen) {
    results.emplace_back(table_.seconds(one.row), table_.last(one.row));
  }
  std::ranges::sort(results);
  double covered = 0, loss_so_far = reference_[0];
  for (const auto& [seconds, loss] : results) {
    if (seconds >= reference_[1] || loss >= loss_so_far) continue;
    covered += (reference_[1] - seconds) * (loss_so_far - loss);
    loss_so_far = loss;
  }
  return 1 - covered / ((reference_[0] - ideal_[0]) * (reference_[1] - ideal_[1]));
}

}  // namespace attune
