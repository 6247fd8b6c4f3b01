#include "tuners/parts/curve_results.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/saved_numbers.h"

namespace attune {
namespace {

constexpr double kUnseen = std::numeric_limits<double>::quiet_NaN();
constexpr double kBroken = std::numeric_limits<double>::infinity();

}  // namespace

CurveResults::CurveResults(CurveShape shape, std::size_t levels)
    : shape_(shape),
      levels_(levels),
      values_(shape.width()),
      kept_(levels),
      maps_(shape.objectives, LevelMap({}, levels)),
      leaders_(levels) {}

void CurveResults::add() {
  for (Table& table : values_) table.emplace_back(levels_, kUnseen);
  ++size_;
}

void CurveResults::observe(std::size_t number, std::size_t level, std::span<const double> result) {
  if (!std::isnan(loss(number, level))) return;
  seen_.push_back({number, level});
  if (!std::ranges::all_of(result, [](double x) { return std::isfinite(x); })) {
    for (Table& table : values_) table[number][level] = kBroken;
    return;
  }
  const auto former = highest(number);
  for (std::size_t k = 0; k < shape_.width(); ++k) {
    values_[k][number][level] = std::clamp(result[k], -kLargest, kLargest);
  }
  ++usable_;
  kept_[level] += violation(number, level) == 0;
  if (!shape_.is_loss() || (former && *former > level)) return;
  if (former) leaders_[*former].erase({loss(number, *former), number});
  leaders_[level].insert({loss(number, level), number});
}

bool CurveResults::is_finite(std::size_t number, std::size_t level) const {
  return std::isfinite(loss(number, level));
}

std::vector<double> CurveResults::at(std::size_t number, std::size_t level) const {
  std::vector<double> result;
  for (const Table& table : values_) result.push_back(table[number][level]);
  return result;
}

double CurveResults::violation(std::size_t number, std::size_t level) const {
  double sum = 0;
  for (std::size_t k = shape_.objectives; k < shape_.width(); ++k) {
    sum += std::max(values_[k][number][level], 0.0);
  }
  return sum;
}

std::optional<std::size_t> CurveResults::highest(std::size_t number) const {
  for (std::size_t level = levels_; level-- > 0;) {
    if (is_finite(number, level)) return level;
  }
  return std::nullopt;
}

void CurveResults::map() {
  for (std::size_t k = 0; k < shape_.objectives; ++k) maps_[k] = LevelMap(values_[k], levels_);
}

double CurveResults::mapped_loss(std::size_t objective, const Observation& one) const {
  return maps_[objective].to_top(values_[objective][one.number][one.level], one.level);
}

void CurveResults::append_mapped(const Observation& one, std::vector<double>& rows) const {
  for (std::size_t k = 0; k < shape_.width(); ++k) {
    rows.push_back(k < shape_.objectives ? mapped_loss(k, one) : values_[k][one.number][one.level]);
  }
}

// The map increases, or is flat, so none of the lowest ends is missed.
std::vector<std::pair<double, std::size_t>> CurveResults::lowest(std::size_t most) const {
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t level = 0; level < levels_; ++level) {
    std::size_t left = most;
    for (const auto& [loss, number] : leaders_[level]) {
      if (left-- == 0) break;
      ends.emplace_back(maps_[0].to_top(loss, level), number);
    }
  }
  std::ranges::sort(ends);
  ends.resize(std::min(ends.size(), most));
  return ends;
}

json CurveResults::save() const {
  std::vector<double> numbers, at_levels, losses;
  for (const auto& [number, level] : seen_) {
    numbers.push_back(static_cast<double>(number));
    at_levels.push_back(static_cast<double>(level));
    for (const Table& table : values_) losses.push_back(table[number][level]);
  }
  return {{"numbers", save_numbers(numbers)},
          {"levels", save_numbers(at_levels)},
          {"losses", save_numbers(losses)}};
}

Result<void> CurveResults::load(const json& state, std::size_t count, std::size_t mapped) {
  const auto damaged = [] { return fail("saved state: a model that does not fit its results"); };
  const auto numbers = TRY(numbers_at(state, "numbers")),
             at_levels = TRY(numbers_at(state, "levels"));
  const auto losses = TRY(numbers_at(state, "losses"));
  if (at_levels.size() != numbers.size() || losses.size() != shape_.width() * numbers.size() ||
      mapped > numbers.size()) {
    return damaged();
  }
  CurveResults loaded(shape_, levels_);
  for (std::size_t i = 0; i < count; ++i) loaded.add();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    // The map of the last update() knew only the results before it.
    if (i == mapped) loaded.map();
    const auto result = std::span(losses).subspan(i * shape_.width(), shape_.width());
    const bool is_possible =
        std::ranges::all_of(result, [](double x) { return std::abs(x) <= kLargest; }) ||
        std::ranges::all_of(result, [](double x) { return x == kBroken; });
    if (!is_index(numbers[i], static_cast<double>(count)) ||
        !is_index(at_levels[i], static_cast<double>(levels_)) || !is_possible) {
      return damaged();
    }
    loaded.observe(static_cast<std::size_t>(numbers[i]), static_cast<std::size_t>(at_levels[i]),
                   result);
    if (loaded.seen_.size() != i + 1) return damaged();  // it is there twice
  }
  if (mapped == numbers.size()) loaded.map();
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
