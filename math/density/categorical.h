#pragma once
// A distribution over categories from weighted observations and a uniform prior: the probability of
// a category is proportional to the weight of its observations plus the prior weight (TPE for
// discrete parameters; Bergstra et al. 2011, section 4.2).
#include <optional>
#include <span>

#include "base/rng.h"
#include "math/density/parzen.h"

namespace attune {

// A value: a function of its observations, which are saved in its place. Sparse: memory is for what
// was observed: 2^50 categories cost nothing.
class Categorical {
 public:
  // `observations`: points are categories, ascending. `categories` counts all of them, > 0.
  // `prior_weight` > 0 is the weight of each category.
  Categorical(const WeightedPoints& observations, double categories, double prior_weight);

  // An observed category, or nothing: then the caller draws any category uniformly.
  std::optional<double> sample(Rng& rng) const;

  // Logarithm of the probability of a category; named as Parzen's, for promising.h.
  double log_density(double category) const;
  double log_height(double category) const { return log_density(category); }

  // Weights of categories, for promising.h: in proportion to their probabilities.
  static constexpr double kHeightError = 1e-12;
  void heights(std::span<const double> categories, std::span<double> heights) const;

 private:
  double weight(double category) const;

  WeightedPoints seen_;  // each once
  double prior_weight_;
  double observed_ = 0;  // weight of all observations
  double total_ = 0;     // and of the prior
};

}  // namespace attune
