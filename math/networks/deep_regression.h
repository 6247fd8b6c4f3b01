#pragma once
// Regression by a neural network whose last hidden layer is the basis of a Bayesian linear
// regression. The cost grows linearly with the observations; that of a Gaussian process grows with
// their cube.
//
// Source: Snoek, Rippel, Swersky, Kiros, Satish, Sundaram, Patwary, Prabhat, Adams, "Scalable
// Bayesian Optimization Using Deep Neural Networks" (ICML 2015), section 3. Three layers of tanh
// units are trained to the targets with a linear output, which the Bayesian regression then
// replaces. Two differences: the two precisions of the regression maximise the evidence instead of
// being sampled; and there is no weight decay, because with it the basis becomes smooth, and the
// deviation too small where nothing was observed.
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

// A value. Not thread safe. The same inputs and generator give the same bits.
class DeepRegression {
 public:
  using Prediction = BayesianLinear::Prediction;

  explicit DeepRegression(std::vector<OneHot::Dimension> dimensions);

  bool trained() const { return trained_; }
  std::size_t parameters() const { return network_.parameters().size(); }

  // Trains the network; the first training begins with random weights, and each later one
  // continues. `rows`: count x dimensions, row by row, NaN where inactive; targets with mean 0 and
  // deviation 1, count > 0. Call fit() afterwards: until then predictions are not valid.
  void train(std::span<const double> rows, std::span<const double> targets,
             std::size_t presentations, Rng& rng);

  // Fits the Bayesian regression to these observations, and forgets all earlier ones. The network
  // must be trained.
  void fit(std::span<const double> rows, std::span<const double> targets);

  // Adds rows whose results are about to be known, as if they confirmed the expectation almost
  // without noise. With the noise of the observations, such a row would hardly keep the search from
  // looking there again. See BayesianLinear.
  void confirm(std::span<const double> rows);

  // `rows`: count x dimensions, row by row. Without dimensions there is one row, as in confirm().
  std::vector<Prediction> predict_many(std::span<const double> rows) const;
  // Also writes the derivatives by positions; those by categories are 0.
  Prediction predict(std::span<const double> row, std::span<double> mean_gradient,
                     std::span<double> deviation_gradient) const;

  // Stores the network only: after load(), call fit() and confirm() again.
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
