#pragma once
// Regression by a neural network whose last hidden layer is the basis of a Bayesian linear
// regression: cost linear in the observations, where a Gaussian process has their cube.
//
// Source: Snoek, Rippel, Swersky, Kiros, Satish, Sundaram, Patwary, Prabhat, Adams, "Scalable
// Bayesian Optimization Using Deep Neural Networks" (ICML 2015), section 3: three layers of tanh
// units, trained to the targets with a linear output, which the Bayesian regression then replaces.
// In place of sampling its two precisions, these maximise the evidence. Without weight decay: with
// it the basis becomes smooth, and the deviation too small where nothing was observed.
#include <cstddef>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"
#include "math/networks/bayesian_linear.h"
#include "math/networks/one_hot.h"
#include "math/networks/tanh_network.h"

namespace attune {

// A value. Not thread safe. The same numbers and generator give the same bits.
class DeepRegression {
 public:
  using Prediction = BayesianLinear::Prediction;

  explicit DeepRegression(std::vector<OneHot::Dimension> dimensions);

  bool trained() const { return trained_; }
  std::size_t parameters() const { return network_.parameters().size(); }

  // Trains the network: from where the last training ended, or from random weights. `rows`: count x
  // dimensions, row by row, NaN where inactive; targets of mean 0 and deviation 1, count > 0. It
  // does not predict until the next fit().
  void train(std::span<const double> rows, std::span<const double> targets,
             std::size_t presentations, Rng& rng);

  // The Bayesian regression, to these observations and no others; of a network that is trained.
  void fit(std::span<const double> rows, std::span<const double> targets);

  // Rows whose targets would be what is expected, almost without noise: with that of the others, a
  // row would be no reason to look elsewhere. See BayesianLinear.
  void confirm(std::span<const double> rows);

  // `rows`: count x dimensions, row by row; of no dimensions there is one, as in confirm().
  std::vector<Prediction> predict_many(std::span<const double> rows) const;
  // With the derivatives by positions; those by categories are 0.
  Prediction predict(std::span<const double> row, std::span<double> mean_gradient,
                     std::span<double> deviation_gradient) const;

  // The network. What fit() and confirm() did is not saved: they have to be called again.
  json save() const;
  Result<void> load(const json& state);  // of the same dimensions; all or nothing

 private:
  std::size_t count(std::span<const double> rows) const;
  std::vector<double> basis(std::span<const double> rows, std::size_t count) const;

  OneHot inputs_;
  TanhNetwork network_;
  BayesianLinear head_;
  bool trained_ = false;
};

}  // namespace attune
