#include "space/grid.h"

#include <algorithm>

#include "base/check.h"

namespace attune {
namespace {

// A state with more values of one real than this counts as damaged: computing them would fill the
// memory.
constexpr std::uint64_t kMaxLoadedAxis = std::uint64_t{1} << 20;

bool is_count(const json& value) { return value.is_number_integer() && value >= 0; }

}  // namespace

Grid::Grid(Space space) : space_(std::move(space)) {
  const std::size_t n = space_.params.size();
  for (const Param& param : space_.params) axes_.emplace_back(param.domain);
  old_sizes_.assign(n, 0);
  growth_.resize(n);
  vector_.assign(n, 0);
  point_.values.assign(n, Point::kInactive);
}

std::optional<Point> Grid::next() {
  while (!done_) {
    if (advance()) return point_;
    done_ = !refine();
  }
  return std::nullopt;
}

// Goes to the next vector in lexicographic order that has a new value of this epoch. A prefix is
// entered only if it has a new value, or one can follow. So there are no dead ends to back out of.
bool Grid::advance() {
  if (!started_) {
    started_ = true;
    fill(0, false);
    return true;
  }
  std::vector<bool> fresh_before(vector_.size());
  bool fresh = false;
  for (std::size_t i = 0; i < vector_.size(); ++i) {
    fresh_before[i] = fresh;
    fresh = fresh || (point_.active(i) && is_new(i));
  }
  for (std::size_t i = vector_.size(); i-- > 0;) {
    if (!point_.active(i)) continue;
    if (const auto k = next_index(i, vector_[i] + 1, fresh_before[i])) {
      set(i, *k);
      fill(i + 1, fresh_before[i] || is_new(i));
      return true;
    }
  }
  return false;
}

// Gives the parameters from `first` on their first values. fresh: a parameter before them has a new
// value.
void Grid::fill(std::size_t first, bool fresh) {
  for (std::size_t i = first; i < vector_.size(); ++i) {
    if (is_active(space_, point_, i)) {
      const auto k = next_index(i, 0, fresh);
      ATTUNE_CHECK(k.has_value());
      set(i, *k);
      fresh = fresh || is_new(i);
    } else {
      vector_[i] = 0;
      point_.values[i] = Point::kInactive;
    }
  }
}

void Grid::set(std::size_t i, std::uint64_t k) {
  vector_[i] = k;
  point_.values[i] = axes_[i].value(space_.params[i].domain, k);
}

// The first index >= from with which the vector has, or still can have, a new value.
std::optional<std::uint64_t> Grid::next_index(std::size_t i, std::uint64_t from, bool fresh) const {
  if (from >= axes_[i].size()) return std::nullopt;
  if (fresh || growth_[i].later || from >= old_sizes_[i]) return from;
  const auto& branches = growth_[i].branches;
  if (const auto it = std::ranges::lower_bound(branches, from); it != branches.end()) return *it;
  if (old_sizes_[i] < axes_[i].size()) return old_sizes_[i];
  return std::nullopt;
}

bool Grid::refine() {
  bool grown = false;
  bool divisible = true;
  for (std::size_t i = 0; i < axes_.size(); ++i) old_sizes_[i] = axes_[i].size();
  // The loop ends: after some 1100 halvings an interval has no double inside.
  while (!grown && divisible) {
    divisible = false;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (axes_[i].split(space_.params[i].domain)) grown = true;
      if (axes_[i].divisible()) divisible = true;
    }
  }
  if (!grown) return false;
  ++epoch_;
  started_ = false;
  find_growth();
  return true;
}

void Grid::find_growth() {
  const auto& params = space_.params;
  growth_.assign(params.size(), {});
  bool root = false;  // a later top-level parameter, or something inside of it, has a new value
  for (std::size_t i = params.size(); i-- > 0;) {
    const auto& condition = params[i].condition;
    const bool grown = axes_[i].size() > old_sizes_[i] || !growth_[i].branches.empty();
    // Parameters are in depth-first order: the branch that was noted last is this parameter's own
    // if a later one of the same option has grown.
    if (condition) {
      auto& noted = growth_[condition->parent].branches;
      growth_[i].later = !noted.empty() && noted.back() == condition->branch;
      if (grown && !growth_[i].later) noted.push_back(condition->branch);
    } else {
      growth_[i].later = root;
      root = root || grown;
    }
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    std::ranges::reverse(growth_[i].branches);
    if (params[i].condition && growth_[params[i].condition->parent].later) growth_[i].later = true;
  }
}

json Grid::save() const {
  return {{"epoch", epoch_}, {"vector", started_ ? json(vector_) : json()}, {"done", done_}};
}

Result<void> Grid::load(const json& state) {
  const auto damaged = [] { return fail("grid: the saved position does not fit the space"); };
  if (!state.is_object() || !state.contains("epoch") || !state.contains("vector") ||
      !state.contains("done") || !is_count(state["epoch"]) || !state["done"].is_boolean()) {
    return damaged();
  }
  Grid grid(space_);
  const auto epochs = state["epoch"].get<std::uint64_t>();
  while (grid.epoch_ < epochs) {
    if (!grid.refine()) return damaged();
    for (const GridAxis& axis : grid.axes_) {
      if (axis.divisible() && axis.size() > kMaxLoadedAxis) return damaged();
    }
  }
  if (const json& vector = state["vector"]; !vector.is_null()) {
    if (!vector.is_array() || vector.size() != axes_.size()) return damaged();
    for (std::size_t i = 0; i < vector.size(); ++i) {
      if (!is_count(vector[i])) return damaged();
      const auto k = vector[i].get<std::uint64_t>();
      const bool active = is_active(space_, grid.point_, i);
      if (k >= (active ? grid.axes_[i].size() : 1)) return damaged();
      if (active) grid.set(i, k);
    }
    grid.started_ = true;
  }
  grid.done_ = state["done"].get<bool>();
  *this = std::move(grid);
  return {};
}

}  // namespace attune
