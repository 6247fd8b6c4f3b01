#include "tuners/parts/curve_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "math/gp/straighten.h"
#include "tuners/parts/history.h"

namespace attune {
namespace {

// Rows that the parameters are fitted to, at most: each step of a fit costs their cube.
constexpr std::size_t kFittedRows = 150;
// Most evaluations of a fit; every fourth fit starts elsewhere, too, and gets more.
constexpr int kFitSteps = 12, kRefitSteps = 25;
constexpr std::size_t kRefitEvery = 4;
constexpr double kLeastNoise = 1e-4;
// Up to so many observations the losses are mapped anew at each update, later only for a fit: it
// costs as much as there are configurations.
constexpr std::size_t kMappedEachTime = 5000;
// From so many full trainings on the number of the trial is no dimension any more.
constexpr std::ptrdiff_t kManyEnds = 5;
constexpr double kNoNumber = -1;  // of a configuration without a trial
constexpr double kFailed = std::numeric_limits<double>::infinity();

std::vector<std::size_t> first_numbers(std::size_t n) {
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Levels on a logarithmic scale, because learning slows down: the last one is 1. A single level
// is 1.
std::vector<double> positions_of(std::span<const double> levels) {
  std::vector<double> positions;
  const double low = std::log(levels.front()), high = std::log(levels.back());
  for (const double level : levels) {
    positions.push_back(high > low ? (std::log(level) - low) / (high - low) : 1);
  }
  return positions;
}

// The level is a position, the number of the trial a category.
std::vector<std::size_t> with_level(std::vector<std::size_t> categories) {
  categories.insert(categories.end(), {0, 1});
  return categories;
}

}  // namespace

CurveModel::CurveModel(const Features& features, CurveShape shape, std::span<const double> levels)
    : CurveModel(with_level(features.categories()), shape, positions_of(levels)) {}

CurveModel::CurveModel(std::vector<std::size_t> categories, CurveShape shape,
                       std::vector<double> positions)
    : categories_(std::move(categories)),
      positions_(std::move(positions)),
      results_(shape, positions_.size()),
      tradeoff_(shape),
      process_(categories_, kLeastNoise) {}

CurveModel CurveModel::with_levels(std::span<const double> changed, std::size_t kept) const {
  CurveModel model(categories_, results_.shape(), positions_of(changed));
  for (const std::vector<double>& row : rows_) model.add(row);
  for (const auto& [number, level] : results_.seen()) {
    const std::vector<double> result = results_.at(number, level);
    if (level + 1 == levels()) {
      model.observe(number, model.levels() - 1, result);
    } else if (kept > 0) {
      model.observe(number, std::min(level, kept - 1), result);
    }
  }
  return model;
}

std::size_t CurveModel::add(std::span<const double> row) {
  rows_.emplace_back(row.begin(), row.end());
  results_.add();
  return rows_.size() - 1;
}

std::optional<std::vector<double>> CurveModel::last_result(std::size_t number) const {
  const auto level = results_.highest(number);
  return level ? std::optional(results_.at(number, *level)) : std::nullopt;
}

bool CurveModel::is_hopeless(std::size_t number) const {
  if (results_.shape().limits == 0) return false;
  const auto level = results_.highest(number);
  return level && results_.kept(*level) > 0 && results_.violation(number, *level) > 0;
}

bool CurveModel::append_rough(std::size_t number, std::vector<double>& results) const {
  const auto level = results_.highest(number);
  if (level) results_.append_mapped({number, *level}, results);
  return level.has_value();
}

std::optional<std::vector<double>> CurveModel::rough_result(std::size_t number) const {
  std::vector<double> result;
  return append_rough(number, result) ? std::optional(result) : std::nullopt;
}

std::optional<double> CurveModel::rough_end(std::size_t number) const {
  const auto result = rough_result(number);
  return result ? std::optional(tradeoff_(*result)) : std::nullopt;
}

std::vector<std::pair<double, std::size_t>> CurveModel::promising(std::size_t most) const {
  if (results_.shape().is_loss()) return results_.lowest(most);
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t number = 0; number < size(); ++number) {
    if (const auto end = rough_end(number)) ends.emplace_back(*end, number);
  }
  const std::size_t count = std::min(ends.size(), most);
  std::ranges::partial_sort(ends, ends.begin() + static_cast<std::ptrdiff_t>(count));
  ends.resize(count);
  return ends;
}

std::vector<double> CurveModel::at(std::size_t number, std::size_t level) const {
  std::vector<double> whole = at(rows_[number], level);
  if (tells_trials_apart_) whole.back() = static_cast<double>(number);
  return whole;
}

std::vector<double> CurveModel::at(std::span<const double> row, std::size_t level) const {
  std::vector<double> whole(row.begin(), row.end());
  whole.insert(whole.end(), {positions_[level], kNoNumber});
  return whole;
}

std::vector<double> CurveModel::gather(std::span<const std::size_t> members) const {
  std::vector<double> all;
  for (const std::size_t i : members) {
    const std::vector<double> row = row_of(results_.seen()[i]);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

// Of the members: standardised. A failed one gets the worst of the others.
std::vector<double> CurveModel::targets() {
  std::vector<double> results;
  for (const std::size_t i : members_) {
    const Observation& one = results_.seen()[i];
    if (results_.is_finite(one.number, one.level)) results_.append_mapped(one, results);
  }
  const std::size_t width = results_.shape().width();
  if (!results.empty()) tradeoff_.set_scale(results);
  std::vector<double> losses;
  double worst = -std::numeric_limits<double>::infinity();
  std::size_t next = 0;
  for (const std::size_t i : members_) {
    const Observation& one = results_.seen()[i];
    losses.push_back(kFailed);
    if (!results_.is_finite(one.number, one.level)) continue;
    losses.back() = tradeoff_(std::span(results).subspan(width * next++, width));
    worst = std::max(worst, losses.back());
  }
  if (!std::isfinite(worst)) worst = 0;  // all have failed
  for (double& loss : losses) loss = std::min(loss, worst);
  return standardised(losses);
}

void CurveModel::update(std::span<const double> weights) {
  process_.resize(members_.size());
  const bool is_known = observations() == known_ && fits_ > 0;
  if (is_known && weights.empty()) return;
  if (!weights.empty()) tradeoff_.set_weights(weights);
  const std::size_t step = std::clamp<std::size_t>(fitted_at_ / 20, 1, kMostRows / 10);
  const bool due = fits_ == 0 || observations() >= fitted_at_ + step;
  if (!is_known && (due || observations() <= kMappedEachTime)) map();
  if (due) {
    fit();
  } else {
    for (std::size_t i = known_; i < observations(); ++i) {
      process_.append(row_of(results_.seen()[i]));
      members_.push_back(i);
    }
    process_.set_targets(targets());
  }
  known_ = observations();
}

void CurveModel::map() {
  results_.map();
  mapped_ = observations();
}

// With a single level nothing tells what is the trial's own from noise.
bool CurveModel::needs_numbers(std::size_t observations) const {
  if (levels() == 1) return false;
  const auto is_end = [&](const Observation& one) {
    return one.level + 1 == levels() && results_.is_finite(one.number, one.level);
  };
  return std::ranges::count_if(std::span(results_.seen()).first(observations), is_end) < kManyEnds;
}

// The observations, the best first: by front if there are several objectives, so that all
// trade-offs are among the best.
std::vector<std::size_t> CurveModel::ranked() const {
  std::vector<std::size_t> failed, all;
  std::vector<double> results;
  for (std::size_t i = 0; i < observations(); ++i) {
    const Observation& one = results_.seen()[i];
    const bool is_finite = results_.is_finite(one.number, one.level);
    (is_finite ? all : failed).push_back(i);
    if (is_finite) results_.append_mapped(one, results);
  }
  std::vector<std::size_t> order = ranking(results, results_.shape());
  for (std::size_t& i : order) i = all[i];
  order.insert(order.end(), failed.begin(), failed.end());
  return order;
}

void CurveModel::fit() {
  tells_trials_apart_ = needs_numbers(observations());
  // The best half, and evenly spaced ones of the rest: see thinned().
  members_ = thinned(ranked(), kMostRows);
  const std::vector<double> targets = this->targets();
  std::vector<std::size_t> order = first_numbers(members_.size());
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return targets[i]; });
  std::vector<std::size_t> part;
  std::vector<double> part_targets;
  for (const std::size_t i : thinned(std::move(order), kFittedRows)) {
    part.push_back(members_[i]);
    part_targets.push_back(targets[i]);
  }
  GaussianProcess fitted(categories_, kLeastNoise);
  fitted.assign(gather(part), process_.parameters());
  fitted.set_targets(part_targets);
  if (fits_ % kRefitEvery == 0) {
    fitted.refit(kRefitSteps, GaussianProcess::Warping::none);
  } else {
    fitted.fit(kFitSteps);
  }
  process_.assign(gather(members_), fitted.parameters());
  process_.set_targets(targets);
  ++fits_;
  fitted_at_ = observations();
}

void CurveModel::await(std::span<const Awaited> trials) {
  for (const Awaited& one : trials) process_.append(at(one.number, one.level));
}

}  // namespace attune
