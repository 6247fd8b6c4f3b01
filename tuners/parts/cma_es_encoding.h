#pragma once
// Translates between points of a space and the numbers that CMA-ES works on. Private to cma_es.cpp.
//
// Reals and integers that have more than one value are coordinates of the unit cube
// (space/unit_cube.h); those with few values are divided into cells. Choices and subsets are groups
// of categories. Constants appear in neither.
#include <span>
#include <vector>

#include "math/cma_es/cma_es.h"
#include "math/cma_es/cma_es_categories.h"
#include "space/space.h"
#include "space/unit_cube.h"

namespace attune {

class CmaEncoding {
 public:
  // A domain with more values than this is treated as continuous: its cells would hardly matter
  // before the step size is as small as one of them.
  static constexpr std::size_t kMostCells = 256;

  explicit CmaEncoding(const Space& space);

  // The edges between the cells of each coordinate; none if it is continuous.
  const CmaCells& cells() const { return cells_; }
  const std::vector<CategoryGroup>& groups() const { return groups_; }
  std::size_t dimensions() const { return cells_.size() + groups_.size(); }

  // Makes the point of `x`, which may hold any finite numbers: a coordinate outside of the cube
  // counts as the nearest end. Optima are often at an end of a range, and only this rule proposes
  // the end exactly. (Biedrzycki, "Handling bound constraints in CMA-ES: An experimental study",
  // 2020, calls it projection with Darwinian repair, because the distribution learns from x and not
  // from the repaired point.)
  Point decode(std::span<const double> x, std::span<const double> flags) const;

  // Whether `point`, decoded from x, has active reals and all of them were clipped to an end. In a
  // continuous space only such points can be drawn twice.
  bool is_cut_off(std::span<const double> x, const Point& point) const;

  std::vector<double> coordinates(const Point& point) const;  // 0.5 where inactive
  std::vector<bool> active_coordinates(const Point& point) const;
  CategoryResult categories(const Point& point) const;

 private:
  UnitCube cube_;
  // The cube's coordinates before decode() fills in numbers and flags: all 0.5.
  std::vector<double> constants_;
  std::vector<std::size_t> number_params_, number_places_;  // parameter, place in the cube
  std::vector<bool> continuous_;                            // of each coordinate
  std::vector<std::size_t> group_params_, flag_places_;
  CmaCells cells_;
  std::vector<CategoryGroup> groups_;
};

}  // namespace attune
