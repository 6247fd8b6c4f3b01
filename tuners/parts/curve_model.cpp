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
// Up to so many observations the losses are mapped anew at each update, later only for a fit: it
// costs as much as there are configurations.
constexpr std::size_t kMappedEachTime = 5000;
constexpr double kNoNumber = -1;  // of a configuration without a trial
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

// The level is a position, the number of the trial a category.
std::vector<std::size_t> with_level(std::vector<std::size_t> categories) {
  categories.insert(categories.end(), {0, 1});
  return categories;
}

}  // namespace

CurveModel::CurveModel(const Features& features, std::span<const double> levels)
    : CurveModel(with_level(features.categories()), positions_of(levels)) {}

CurveModel::CurveModel(std::vector<std::size_t> categories, std::vector<double> positions)
    : categories_(std::move(categories)),
      positions_(std::move(positions)),
      leaders_(positions_.size()),
      map_({}, positions_.size()),
      process_(categories_, kLeastNoise) {}

CurveModel CurveModel::with_levels(std::span<const double> changed, std::size_t kept) const {
  CurveModel model(categories_, positions_of(changed));
  for (const std::vector<double>& row : rows_) model.add(row);
  for (const Observation& one : seen_) {
    const double loss = losses_[one.number][one.level];
    if (one.level + 1 == levels()) {
      model.observe(one.number, model.levels() - 1, loss);
    } else if (kept > 0) {
      model.observe(one.number, std::min(one.level, kept - 1), loss);
    }
  }
  return model;
}

std::size_t CurveModel::add(std::span<const double> row) {
  rows_.emplace_back(row.begin(), row.end());
  losses_.emplace_back(levels(), kUnseen);
  return rows_.size() - 1;
}

void CurveModel::observe(std::size_t number, std::size_t level, double loss) {
  double& known = losses_[number][level];
  if (!std::isnan(known)) return;
  seen_.push_back({number, level});
  if (!std::isfinite(loss)) {
    known = kBroken;
    return;
  }
  const auto former = highest(number);
  known = std::clamp(loss, -kLargestLoss, kLargestLoss);
  ++usable_;
  if (former && *former > level) return;
  if (former) leaders_[*former].erase({losses_[number][*former], number});
  leaders_[level].insert({known, number});
}

double CurveModel::mapped(const Observation& one) const {
  const double loss = losses_[one.number][one.level];
  return loss == kBroken ? kBroken : map_.to_top(loss, one.level);
}

// The highest level with a finite loss.
std::optional<std::size_t> CurveModel::highest(std::size_t number) const {
  for (std::size_t level = levels(); level-- > 0;) {
    if (std::isfinite(losses_[number][level])) return level;
  }
  return std::nullopt;
}

std::optional<double> CurveModel::last_loss(std::size_t number) const {
  const auto level = highest(number);
  return level ? std::optional(losses_[number][*level]) : std::nullopt;
}

std::optional<double> CurveModel::rough_end(std::size_t number) const {
  const auto level = highest(number);
  if (!level) return std::nullopt;
  return map_.to_top(losses_[number][*level], *level);
}

// The map increases, or is flat, so none of the lowest ends is missed.
std::vector<std::pair<double, std::size_t>> CurveModel::promising(std::size_t most) const {
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t level = 0; level < levels(); ++level) {
    std::size_t left = most;
    for (const auto& [loss, number] : leaders_[level]) {
      if (left-- == 0) break;
      ends.emplace_back(map_.to_top(loss, level), number);
    }
  }
  std::ranges::sort(ends);
  ends.resize(std::min(ends.size(), most));
  return ends;
}

std::vector<double> CurveModel::at(std::size_t number, std::size_t level) const {
  std::vector<double> whole = at(rows_[number], level);
  // With a single level nothing tells what is the trial's own from noise.
  if (levels() > 1) whole.back() = static_cast<double>(number);
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
  const std::size_t step = std::clamp<std::size_t>(fitted_at_ / 20, 1, kMostRows / 10);
  const bool due = fits_ == 0 || seen_.size() >= fitted_at_ + step;
  if (due || seen_.size() <= kMappedEachTime) map();
  if (due) {
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

void CurveModel::map() {
  map_ = LevelMap(losses_, levels());
  mapped_ = seen_.size();
}

void CurveModel::fit() {
  // The best half, and evenly spaced ones of the rest: see thinned().
  std::vector<std::size_t> ranked = first_numbers(seen_.size());
  std::vector<double> ends;
  for (const Observation& one : seen_) ends.push_back(mapped(one));
  std::ranges::stable_sort(ranked, {}, [&](std::size_t i) { return ends[i]; });
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
  for (const Awaited& one : trials) process_.append(at(one.number, one.level));
}

json CurveModel::save() const {
  std::vector<double> numbers, at_levels, losses;
  for (const Observation& one : seen_) {
    numbers.push_back(static_cast<double>(one.number));
    at_levels.push_back(static_cast<double>(one.level));
    losses.push_back(losses_[one.number][one.level]);
  }
  return {{"numbers", save_numbers(numbers)},
          {"levels", save_numbers(at_levels)},
          {"losses", save_numbers(losses)},
          {"members", save_numbers(std::vector<double>(members_.begin(), members_.end()))},
          {"known", known_},
          {"mapped", mapped_},
          {"fitted_at", fitted_at_},
          {"fits", fits_},
          {"process", process_.save()}};
}

Result<void> CurveModel::load(const json& state, std::span<const std::vector<double>> rows) {
  const auto damaged = [] { return fail("saved state: a model that does not fit its results"); };
  const auto index_at = [&](std::string_view key) -> Result<std::size_t> {
    const auto n = TRY(integer_at(state, key));
    if (n < 0) return fail("saved state: " + std::string(key) + " is negative");
    return static_cast<std::size_t>(n);
  };
  const auto numbers = TRY(numbers_at(state, "numbers")),
             at_levels = TRY(numbers_at(state, "levels"));
  const auto losses = TRY(numbers_at(state, "losses")), members = TRY(numbers_at(state, "members"));
  CurveModel loaded(categories_, positions_);
  loaded.known_ = TRY(index_at("known"));
  loaded.mapped_ = TRY(index_at("mapped"));
  loaded.fitted_at_ = TRY(index_at("fitted_at"));
  loaded.fits_ = TRY(index_at("fits"));
  const bool possible =
      at_levels.size() == numbers.size() && losses.size() == numbers.size() &&
      loaded.known_ <= numbers.size() && loaded.mapped_ <= loaded.known_ &&
      loaded.fitted_at_ <= loaded.known_ && loaded.known_ - loaded.fitted_at_ <= members.size() &&
      std::ranges::all_of(
          members, [&](double i) { return is_index(i, static_cast<double>(loaded.known_)); }) &&
      std::ranges::adjacent_find(members, std::greater_equal<>()) == members.end() &&
      (loaded.fits_ == 0) == members.empty() && (loaded.fits_ > 0 || loaded.known_ == 0) &&
      members.size() <= 2 * kMostRows;
  if (!possible) return damaged();
  for (const auto& row : rows) loaded.add(row);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    // The map of the last update() knew only the results before it.
    if (i == loaded.mapped_) loaded.map();
    if (!is_index(numbers[i], static_cast<double>(rows.size())) ||
        !is_index(at_levels[i], static_cast<double>(levels())) ||
        !(losses[i] == kBroken || std::abs(losses[i]) <= kLargestLoss)) {
      return damaged();
    }
    loaded.observe(static_cast<std::size_t>(numbers[i]), static_cast<std::size_t>(at_levels[i]),
                   losses[i]);
    if (loaded.seen_.size() != i + 1) return damaged();  // it is there twice
  }
  if (loaded.mapped_ == numbers.size()) loaded.map();
  loaded.members_.assign(members.begin(), members.end());
  const auto process = TRY(object_at(state, "process"));
  TRY(loaded.process_.load(process, loaded.gather(loaded.members_),
                           loaded.targets_of(loaded.members_)));
  if (loaded.process_.assigned() != members.size() - (loaded.known_ - loaded.fitted_at_)) {
    return damaged();
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
