#include "tuners/parts/curve_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/saved_numbers.h"
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
constexpr double kUnseen = std::numeric_limits<double>::quiet_NaN();
constexpr double kBroken = std::numeric_limits<double>::infinity();

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

std::vector<std::size_t> with_level(std::vector<std::size_t> categories) {
  categories.push_back(0);
  return categories;
}

}  // namespace

CurveModel::CurveModel(const Features& features, std::span<const double> levels)
    : categories_(with_level(features.categories())),
      positions_(positions_of(levels)),
      map_({}, positions_.size()),
      process_(categories_, kLeastNoise) {}

std::size_t CurveModel::add(std::span<const double> row) {
  rows_.emplace_back(row.begin(), row.end());
  losses_.emplace_back(levels(), kUnseen);
  return rows_.size() - 1;
}

void CurveModel::observe(std::size_t trial, std::size_t level, double loss) {
  if (!std::isnan(losses_[trial][level])) return;
  losses_[trial][level] = std::isfinite(loss) ? loss : kBroken;
  if (std::isfinite(loss)) ++usable_;
  seen_.push_back({trial, level});
}

double CurveModel::mapped(const Observation& one) const {
  const double loss = losses_[one.trial][one.level];
  return loss == kBroken ? kBroken : map_.to_top(loss, one.level);
}

std::optional<double> CurveModel::rough_end(std::size_t trial) const {
  for (std::size_t level = levels(); level-- > 0;) {
    const double loss = losses_[trial][level];
    if (std::isfinite(loss)) return map_.to_top(loss, level);
  }
  return std::nullopt;
}

std::vector<double> CurveModel::at(std::span<const double> row, std::size_t level) const {
  std::vector<double> whole(row.begin(), row.end());
  whole.push_back(positions_[level]);
  return whole;
}

std::vector<double> CurveModel::gather(std::span<const std::size_t> members) const {
  std::vector<double> all;
  for (const std::size_t i : members) {
    const std::vector<double> row = row_of(seen_[i]);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

// Standardised. A failed member gets the worst of the others.
std::vector<double> CurveModel::targets_of(std::span<const std::size_t> members) const {
  std::vector<double> losses;
  double worst = -std::numeric_limits<double>::infinity();
  for (const std::size_t i : members) {
    losses.push_back(mapped(seen_[i]));
    if (std::isfinite(losses.back())) worst = std::max(worst, losses.back());
  }
  if (!std::isfinite(worst)) worst = 0;  // all have failed
  for (double& loss : losses) loss = std::min(loss, worst);
  return standardised(losses);
}

void CurveModel::update() {
  process_.resize(members_.size());
  if (seen_.size() == known_ && fits_ > 0) return;
  map_ = LevelMap(losses_, levels());
  const std::size_t step = std::clamp<std::size_t>(fitted_at_ / 20, 1, kMostRows / 10);
  if (fits_ == 0 || seen_.size() >= fitted_at_ + step) {
    fit();
  } else {
    for (std::size_t i = known_; i < seen_.size(); ++i) {
      process_.append(row_of(seen_[i]));
      members_.push_back(i);
    }
    process_.set_targets(targets_of(members_));
  }
  known_ = seen_.size();
}

void CurveModel::fit() {
  // The best half, and evenly spaced ones of the rest: see thinned().
  std::vector<std::size_t> ranked = first_numbers(seen_.size());
  std::ranges::stable_sort(ranked, {}, [&](std::size_t i) { return mapped(seen_[i]); });
  members_ = thinned(std::move(ranked), kMostRows);
  const std::vector<double> targets = targets_of(members_);
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
  fitted_at_ = seen_.size();
}

void CurveModel::await(std::span<const Awaited> trials) {
  for (const Awaited& one : trials) process_.append(at(one.row, one.level));
}

json CurveModel::save() const {
  std::vector<double> losses, trials, at_levels;
  for (const auto& curve : losses_) losses.insert(losses.end(), curve.begin(), curve.end());
  for (const Observation& one : seen_) {
    trials.push_back(static_cast<double>(one.trial));
    at_levels.push_back(static_cast<double>(one.level));
  }
  std::vector<double> rows;
  for (const auto& row : rows_) rows.insert(rows.end(), row.begin(), row.end());
  return {{"rows", save_numbers(rows)},
          {"losses", save_numbers(losses)},
          {"trials", save_numbers(trials)},
          {"levels", save_numbers(at_levels)},
          {"members", save_numbers(std::vector<double>(members_.begin(), members_.end()))},
          {"known", known_},
          {"fitted_at", fitted_at_},
          {"fits", fits_},
          {"process", process_.save()}};
}

Result<void> CurveModel::load(const json& state) {
  const auto damaged = [] { return fail("saved state: a model that does not fit its results"); };
  CurveModel loaded = *this;
  loaded.rows_.clear();
  loaded.losses_.clear();
  loaded.seen_.clear();
  loaded.usable_ = 0;
  const auto rows = TRY(numbers_at(state, "rows")), losses = TRY(numbers_at(state, "losses"));
  const auto trials = TRY(numbers_at(state, "trials")),
             at_levels = TRY(numbers_at(state, "levels"));
  const auto members = TRY(numbers_at(state, "members"));
  const std::size_t d = categories_.size() - 1, count = losses.size() / levels();
  if (losses.size() != count * levels() || rows.size() != count * d ||
      trials.size() != at_levels.size()) {
    return damaged();
  }
  for (std::size_t i = 0; i < count; ++i) {
    loaded.add(std::span(rows).subspan(i * d, d));
    std::ranges::copy(std::span(losses).subspan(i * levels(), levels()),
                      loaded.losses_.back().begin());
  }
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!is_index(trials[i], static_cast<double>(count)) ||
        !is_index(at_levels[i], static_cast<double>(levels()))) {
      return damaged();
    }
    loaded.seen_.push_back(
        {static_cast<std::size_t>(trials[i]), static_cast<std::size_t>(at_levels[i])});
    if (std::isnan(loaded.losses_[loaded.seen_.back().trial][loaded.seen_.back().level])) {
      return damaged();
    }
  }
  for (const auto& curve : loaded.losses_) {
    loaded.usable_ += static_cast<std::size_t>(
        std::ranges::count_if(curve, [](double loss) { return std::isfinite(loss); }));
  }
  const auto number = [&](std::string_view key) -> Result<std::size_t> {
    const auto n = TRY(integer_at(state, key));
    if (n < 0) return fail("saved state: " + std::string(key) + " is negative");
    return static_cast<std::size_t>(n);
  };
  loaded.known_ = TRY(number("known"));
  loaded.fitted_at_ = TRY(number("fitted_at"));
  loaded.fits_ = TRY(number("fits"));
  const bool possible =
      loaded.usable_ <= loaded.seen_.size() && loaded.known_ <= loaded.seen_.size() &&
      loaded.fitted_at_ <= loaded.known_ && loaded.known_ - loaded.fitted_at_ <= members.size() &&
      std::ranges::all_of(
          members, [&](double i) { return is_index(i, static_cast<double>(loaded.known_)); }) &&
      std::ranges::adjacent_find(members, std::greater_equal<>()) == members.end() &&
      (loaded.fits_ == 0) == members.empty() && members.size() <= 2 * kMostRows;
  if (!possible) return damaged();
  loaded.members_.assign(members.begin(), members.end());
  loaded.map_ = LevelMap(loaded.losses_, levels());
  const auto process = TRY(object_at(state, "process"));
  if (loaded.fits_ > 0) {
    TRY(loaded.process_.load(process, loaded.gather(loaded.members_),
                             loaded.targets_of(loaded.members_)));
    if (loaded.process_.assigned() != members.size() - (loaded.known_ - loaded.fitted_at_)) {
      return damaged();
    }
  } else {
    TRY(loaded.process_.load(process, {}, {}));
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
