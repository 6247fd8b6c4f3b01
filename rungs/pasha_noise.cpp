#include "rungs/pasha_noise.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/saved_numbers.h"

namespace attune {
namespace {

// As numpy.percentile(values, 90). It reorders the values, of which there is at least one.
double pasha_percentile_90(std::vector<double>& values) {
  const double place = static_cast<double>(values.size() - 1) * 0.9;
  const auto below = static_cast<std::ptrdiff_t>(place);
  const double part = place - std::floor(place);
  std::ranges::nth_element(values, values.begin() + below);
  const double a = values[static_cast<std::size_t>(below)];
  if (part == 0) return a;
  const double b = *std::min_element(values.begin() + below + 1, values.end());
  // numpy interpolates from the nearer end.
  return part < 0.5 ? a + (b - a) * part : b - (b - a) * (1 - part);
}

}  // namespace

void PashaNoise::set_window(double low, double high) {
  low_ = low;
  high_ = high;
  compared_.clear();
  index_.clear();
  pairs_.clear();
  for (const auto& [trial, curve] : curves_) {
    if (curve.back().resource > low_ && compared_.size() < kMost) compare(trial);
  }
}

void PashaNoise::report(TrialId trial, double resource, double loss) {
  Curve& curve = curves_[trial];
  if (!curve.empty() && resource <= curve.back().resource) return;
  curve.push_back({resource, loss});
  if (resource <= low_) return;
  const auto found = index_.find(trial);
  if (found == index_.end()) {
    if (compared_.size() < kMost) {
      compare(trial);
      estimate();
    }
    return;
  }
  for (std::size_t other = 0; other < compared_.size(); ++other) {
    if (other == found->second) continue;
    const auto [i, j] = std::minmax(found->second, other);
    advance(pair_of(i, j), curves_.at(compared_[i]), curves_.at(compared_[j]));
  }
  estimate();
}

void PashaNoise::end(TrialId trial) {
  if (!index_.contains(trial)) curves_.erase(trial);
}

// Compares the trial from now on with those before it.
void PashaNoise::compare(TrialId trial) {
  const std::size_t j = compared_.size();
  compared_.push_back(trial);
  index_.emplace(trial, j);
  pairs_.resize(pairs_.size() + j);
  for (std::size_t i = 0; i < j; ++i) {
    advance(pair_of(i, j), curves_.at(compared_[i]), curves_.at(trial));
  }
}

PashaNoise::Pair& PashaNoise::pair_of(std::size_t i, std::size_t j) {
  return pairs_[j * (j - 1) / 2 + i];
}

// Compares the two at the resources that both have reported meanwhile.
void PashaNoise::advance(Pair& pair, const Curve& a, const Curve& b) const {
  while (pair.next_a < a.size() && pair.next_b < b.size()) {
    const Report &at_a = a[pair.next_a], &at_b = b[pair.next_b];
    if (std::max(at_a.resource, at_b.resource) > high_) return;
    if (at_a.resource <= at_b.resource) ++pair.next_a;
    if (at_b.resource <= at_a.resource) ++pair.next_b;
    if (at_a.resource != at_b.resource) continue;
    const bool a_is_better = at_a.loss < at_b.loss;
    if (pair.runs == 0 || a_is_better != pair.a_is_better) ++pair.runs;
    pair.a_is_better = a_is_better;
    pair.difference.reset();
    if (at_a.resource > low_ && pair.runs >= 3) {
      pair.difference = std::abs(at_a.loss - at_b.loss);
    }
  }
}

void PashaNoise::estimate() {
  std::vector<double> differences;
  for (const Pair& pair : pairs_) {
    if (pair.difference) differences.push_back(*pair.difference);
  }
  if (!differences.empty()) epsilon_ = pasha_percentile_90(differences);
}

json PashaNoise::save() const {
  std::vector<double> reports, compared;
  for (const auto& [trial, curve] : curves_) {
    reports.insert(reports.end(), {static_cast<double>(trial), static_cast<double>(curve.size())});
    for (const auto& [resource, loss] : curve) reports.insert(reports.end(), {resource, loss});
  }
  for (const TrialId trial : compared_) compared.push_back(static_cast<double>(trial));
  return {{"reports", save_numbers(reports)},
          {"compared", save_numbers(compared)},
          {"epsilon", save_numbers(std::vector{epsilon_})}};
}

Result<void> PashaNoise::load(const json& state) {
  const auto damaged = [] { return fail("saved state: learning curves are damaged"); };
  PashaNoise loaded;
  loaded.low_ = low_;
  loaded.high_ = high_;
  const auto reports = TRY(numbers_at(state, "reports"));
  for (std::size_t i = 0; i < reports.size();) {
    if (reports.size() - i < 2 || !is_whole(reports[i])) return damaged();
    Curve& curve = loaded.curves_[static_cast<TrialId>(reports[i])];
    const std::size_t room = (reports.size() - i - 2) / 2;
    if (!curve.empty() || !is_index(reports[i + 1] - 1, static_cast<double>(room))) {
      return damaged();
    }
    const std::size_t end = i + 2 + 2 * static_cast<std::size_t>(reports[i + 1]);
    for (i += 2; i < end; i += 2) {
      const Report report{reports[i], reports[i + 1]};
      const bool ascends = curve.empty() || report.resource > curve.back().resource;
      if (!ascends || !std::isfinite(report.resource) || !std::isfinite(report.loss)) {
        return damaged();
      }
      curve.push_back(report);
    }
  }
  const auto compared = TRY(numbers_at(state, "compared"));
  for (const double trial : compared) {
    const bool known = is_whole(trial) && loaded.curves_.contains(static_cast<TrialId>(trial));
    if (!known || loaded.index_.contains(static_cast<TrialId>(trial)) ||
        loaded.compared_.size() == kMost) {
      return damaged();
    }
    loaded.compare(static_cast<TrialId>(trial));
  }
  const auto epsilon = TRY(numbers_at(state, "epsilon"));
  if (epsilon.size() != 1 || !std::isfinite(epsilon[0]) || epsilon[0] < 0) return damaged();
  loaded.epsilon_ = epsilon[0];
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
