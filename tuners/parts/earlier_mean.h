#pragma once
// What the models of earlier experiments together expect of the present one: a weighted sum of
// their means. A surrogate models the results as the sum of this function and a Gaussian process,
// which learns in what the present experiment differs. Private to the tuners.
//
// Sources: Feurer, Letham, Hutter, Bakshy, "Practical Transfer Learning for Bayesian Optimization"
// (2018/2022, RGPE): the weights by the ranking loss; Golovin et al., "Google Vizier: A Service for
// Black-Box Optimization" (KDD 2017), section 3.3: a process on the residuals of the earlier
// models.
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "tuners/parts/earlier_models.h"

namespace attune {

// A value. Without models, or if all weights are 0, it is 0 everywhere.
class EarlierMean {
 public:
  EarlierMean() = default;
  explicit EarlierMean(std::shared_ptr<const EarlierModels> models);

  bool has_models() const { return models_ != nullptr && models_->size() > 0; }
  bool is_zero() const;

  // Chooses weights and scale by the results so far: `rows` (row by row) and their `targets`.
  // Each model gets the share of bootstrap samples in which it ranks the results best (RGPE,
  // section 4). The sum is scaled and shifted to fit the targets by least squares. With fewer than
  // three results all models have the same weight.
  void learn(std::span<const double> rows, std::span<const double> targets);
  void clear();  // zero everywhere

  std::vector<double> values(std::span<const double> rows) const;
  // At one row. Adds the derivatives by positions to `gradient`.
  double value(std::span<const double> row, std::span<double> gradient) const;

  json save() const;  // the weights
  Result<void> load(const json& state);

 private:
  std::shared_ptr<const EarlierModels> models_;
  std::vector<double> weights_;  // of each model; may be empty, like zeros
  double shift_ = 0;
};

}  // namespace attune
