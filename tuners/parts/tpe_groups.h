#pragma once
// Presents a space to multivariate TPE as variables, and as groups of variables that are active
// together. Private to TPE.
//
// A variable is one parameter, or several of the same name and domain in different options of one
// nested choice (`gamma` of an rbf and of a poly kernel). Such parameters are never active
// together, and so can learn from each other. A group is all variables under the same condition:
// parameters at the top learn from all trials, those of a branch from all trials in that branch.
// (The decomposition is that of Optuna's `group=True`, which finds it from the trials; here the
// declaration gives it. Variables of several branches are ours.) Constants belong to no group.
#include <cstddef>
#include <span>
#include <vector>

#include "base/rng.h"
#include "math/density/product_mixture.h"
#include "space/space.h"

namespace attune {

// How the values of a variable lie on its axis.
// * number: reals, on [0, 1] between the bounds (half a step beyond them when rounded), on the
//   internal scale. Normals have no bounds; they are in deviations from their mean.
// * steps: integers, and choices of at least three ascending numbers, by their position.
// * category: everything else; the index of a choice, the mask of a subset.
struct TpeVariable {
  enum class Kind { number, steps, category };

  std::vector<std::size_t> params = {};  // ascending; at most one is active
  Kind kind = Kind::number;
  MixtureAxis axis = {};
  // number: internal value = low + width * coordinate; steps: the lowest value, and the number of
  // values.
  double low = 0, width = 1;
};

// A value. Copies what it needs of the space.
class TpeGroups {
 public:
  using Group = std::vector<std::size_t>;  // indices of variables, ascending
  static constexpr std::size_t kConstant = -1;

  TpeGroups() = default;
  explicit TpeGroups(const Space& space);

  const std::vector<TpeVariable>& variables() const { return variables_; }
  const std::vector<Group>& groups() const { return groups_; }  // those of parents first
  std::size_t group_of(std::size_t param) const { return group_of_[param]; }

  // Where a value lies on its variable's axis: its coordinate (NaN if it is inactive), and the
  // width of the cell that rounds to it (0 if it is continuous).
  struct Coordinate {
    double x = Point::kInactive;
    double cell = 0;
  };
  void encode(const Point& point, std::span<Coordinate> coordinates) const;

  // Rounds a coordinate that a ProductMixture has drawn to that of a possible value. `rng` draws
  // the category for ProductMixture::kAnyCategory.
  double rounded(std::size_t variable, double x, Rng& rng) const;

  // The value that a rounded coordinate stands for.
  double value(std::size_t variable, double x) const;

 private:
  double coordinate(std::size_t variable, double value) const;
  double cell(std::size_t variable, double value) const;

  std::vector<TpeVariable> variables_;
  std::vector<Domain> domains_;  // of variables
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;  // of parameters
};

}  // namespace attune
