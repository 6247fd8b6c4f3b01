#pragma once
// Bayesian linear regression on given basis functions.
//
// y = w . phi(x) + e; weights w ~ N(0, 1 / alpha), noise e ~ N(0, 1 / beta), all independent.
// Posterior and evidence: Bishop, "Pattern Recognition and Machine Learning" (2006), sections 3.3
// and 3.5.1. alpha and beta maximise the evidence times wide log-normal priors; the priors decide
// only while there are few observations.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

struct Precisions {
  double log_prior = 0;  // log alpha
  double log_noise = 0;  // log beta
};

// A value. Not thread safe. m is the number of basis functions.
class BayesianLinear {
 public:
  struct Prediction {
    double mean = 0;
    double deviation = 0;  // of the function, without noise; > 0
  };

  explicit BayesianLinear(std::size_t size) : size_(size) {}  // call fit() before predicting

  std::size_t size() const { return size_; }
  const Precisions& precisions() const { return precisions_; }

  // Fits these observations, and forgets all earlier ones. `rows`: count x m values of the basis,
  // row by row; targets with mean 0 and deviation 1, count > 0. Uses the `given` precisions, or
  // else finds the best ones. O(count m^2 + m^3).
  void fit(std::span<const double> rows, std::span<const double> targets,
           std::optional<Precisions> given = {});

  // Adds rows whose results are about to be known, as if they confirmed the expectation, with noise
  // of this precision. The mean stays, the deviation becomes smaller (Desautels, Krause, Burdick,
  // "Parallelizing Exploration-Exploitation Tradeoffs in Gaussian Process Bandit Optimization",
  // JMLR 2014).
  void confirm(std::span<const double> rows, double log_noise);

  std::vector<Prediction> predict_many(std::span<const double> rows) const;
  // Also writes the derivatives by the basis.
  Prediction predict(std::span<const double> row, std::span<double> mean_gradient,
                     std::span<double> deviation_gradient) const;

  // Stores the posterior, 8 (m^2 + m + 2) bytes; nothing before fit().
  json save() const;
  Result<void> load(const json& state);  // of the same number of basis functions; all or nothing

 private:
  std::size_t size_;
  Precisions precisions_;
  std::vector<double> mean_;  // of the weights
  // m x m, column by column: the covariance of the weights is root root^T.
  std::vector<double> root_;
};

// The logarithm of the evidence of the observations; writes the derivatives by the logarithms of
// both precisions (prior, noise).
double log_evidence(std::span<const double> rows, std::span<const double> targets,
                    Precisions precisions, std::span<double> gradient);

}  // namespace attune
