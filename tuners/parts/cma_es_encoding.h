#pragma once
// How CMA-ES sees a space. Private to cma_es.cpp.
//
// Reals, and integers as far as there is something to choose, are coordinates of the unit cube
// (space/unit_cube.h), and those with few values have cells. Choices and subsets are groups of
// categories. Constants are neither.
#include <span>
#include <vector>

#include "math/cma_es/cma_es.h"
#include "math/cma_es/cma_es_categories.h"
#include "space/space.h"
#include "space/unit_cube.h"

namespace attune {

class CmaEncoding {
 public:
  // With more values than this a domain is treated as continuous: its cells would hardly matter
  // before the step is as small as that.
  static constexpr std::size_t kMostCells = 256;

  explicit CmaEncoding(const Space& space);

  const CmaCells& cells() const { return cells_; }  // of each coordinate
  const std::vector<CategoryGroup>& groups() const { return groups_; }
  std::size_t dimensions() const { return cells_.size() + groups_.size(); }

  // `x` of any finite numbers: what is out of the cube counts as the nearest end. (Best optima are
  // often at an end, which only this rule proposes exactly. Biedrzycki, "Handling bound constraints
  // in CMA-ES: An experimental study", 2020, calls it projection with Darwinian repair, as the
  // distribution learns from x and not from what became of it.)
  Point decode(std::span<const double> x, std::span<const double> flags) const;

  // Whether `point`, which was made of x, has active reals, and all were cut off at an end: of a
  // continuous space only such points are drawn twice.
  bool is_cut_off(std::span<const double> x, const Point& point) const;

  std::vector<double> coordinates(const Point& point) const;  // 0.5 where inactive
  std::vector<bool> active_coordinates(const Point& point) const;
  CategoryResult categories(const Point& point) const;

 private:
  UnitCube cube_;
  std::vector<double> constants_;                           // a point of the cube
  std::vector<std::size_t> number_params_, number_places_;  // parameter, place in the cube
  std::vector<bool> continuous_;                            // of each coordinate
  std::vector<std::size_t> group_params_, flag_places_;
  CmaCells cells_;
  std::vector<CategoryGroup> groups_;
};

}  // namespace attune
