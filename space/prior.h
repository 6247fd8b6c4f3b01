#pragma once
// What the user believes of a space, as a density: the product of the priors of its parameters.
//
// The density of a parameter is relative to its declared distribution, so that it is 1 where the
// user says nothing, and a draw from it has a declared distribution times this density.
//
//   Choice   `sure` for the preferred candidate; the others share the rest
//   numbers  on the position of features.h, a mixture of a normal around the preferred value, cut
//            off at the ends of the range, and of the declared distribution (kDoubt). With the
//            probability `sure` the normal, if it is not cut off, is at most kNear from its centre.
#include <optional>
#include <span>
#include <vector>

#include "base/rng.h"
#include "space/features.h"
#include "space/space.h"

namespace attune {

// A value. Without any prior it is empty, and keeps nothing of the space.
class Priors {
 public:
  static constexpr double kNear = 0.1;   // of the range
  static constexpr double kDoubt = 0.1;  // of a number: the weight of the declared distribution

  Priors() = default;
  explicit Priors(const Space& space);

  bool empty() const { return terms_.empty(); }

  // A draw; parameters without a prior are drawn from their declared distributions. Not of an empty
  // one.
  Point draw(Rng& rng) const;

  // The logarithm of the density at an encoded point. Parameters that are inactive or unknown (NaN)
  // count with density 1. Adds `scale` times the derivatives by positions to `gradient`, unless
  // that is empty. Choices have no derivative.
  double log_density(std::span<const double> row, std::span<double> gradient = {},
                     double scale = 1) const;

 private:
  // A parameter is active where each of these dimensions has this category.
  struct Guard {
    std::size_t dimension = 0;
    double category = 0;
  };
  struct Term {
    std::size_t param = 0, dimension = 0;
    std::size_t candidates = 0;  // 0: a number
    double centre = 0;           // position of a number, or index of a candidate
    double deviation = 0;        // of the normal of a number, in positions
    double log_mass = 0;         // of the normal inside of the range
    double sure = 0;
    bool scale = false;  // a choice whose dimension is a position
    std::vector<Guard> guards = {};
  };

  static bool applies(const Term& term, std::span<const double> row);
  double draw(const Term& term, Rng& rng) const;

  Space space_;
  std::optional<Features> features_;
  std::vector<Term> terms_;
};

// A point of `space`: every second one, by chance, is a draw of `priors`, if there are any, and the
// others are declared draws. So a prior that misleads costs half of the draws at most.
Point draw_half_from(const Priors& priors, const Space& space, Rng& rng);

}  // namespace attune
