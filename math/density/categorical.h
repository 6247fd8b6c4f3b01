#pragma once
// A distribution over categories from weighted observations and a uniform prior: the probability of
// a category is proportional to the weight of its observations plus the prior weight (TPE for
// discrete parameters; Bergstra et al. 2011, section 4.2).
#include <optional>
#include <span>

#include "base/rng.h"
#include "math/density/parzen.h"

namespace attune {

// A value. Savers store the observations and make it again. Memory grows with the observed
// categories only: 2^50 categories cost nothing.
class Categorical {
 public:
  // `observations`: the points are categories, ascending. `categories`: how many exist, > 0.
  // `prior_weight`: that of each category, > 0.
  Categorical(const WeightedPoints& observations, double categories, double prior_weight);

  // Draws an observed category, or nothing, after which the caller must draw any category
  // uniformly.
  std::optional<double> sample(Rng& rng) const;

  // The logarithm of the probability of a category. It has the name that Parzen has, for
  // promising.h.
  double log_density(double category) const;
  double log_height(double category) const { return log_density(category); }

  // Numbers proportional to the categories' probabilities, for promising.h.
  static constexpr double kHeightError = 1e-12;
  void heights(std::span<const double> categories, std::span<double> heights) const;

 private:
  double weight(double category) const;

  WeightedPoints seen_;  // each observed category once
  double prior_weight_;
  double observed_ = 0;  // weight of all observations
  double total_ = 0;     // weight of observations and prior
};

}  // namespace attune
