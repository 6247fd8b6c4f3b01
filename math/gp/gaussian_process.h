#pragma once
// Regression by a Gaussian process over positions and categories.
//
// Kernel: Matern 5/2 with a length scale for each dimension (Rasmussen, Williams, "Gaussian
// Processes for Machine Learning", 2006, sections 4.2 and 5.1) on the squared distances of
// mixed_rows.h; so categories overlap or do not. Zero mean, homoscedastic normal noise.
//
// The logarithms of weights (inverse squared length scales), signal and noise variance maximise the
// posterior density: the marginal likelihood (same book, section 5.4.1) times the log-normal priors
// of math/gp/kernel_parameters.h.
#include <memory>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "math/gp/kernel_parameters.h"
#include "math/gp/mixed_rows.h"

namespace attune {

struct Prediction {
  double mean = 0;
  double deviation = 0;  // of the function, without noise; > 0
};

// A value. Not thread safe. Costs in n observations and d dimensions.
class GaussianProcess {
 public:
  // `categories` of each dimension, 0: a position. The noise's variance is at least `least_noise`,
  // in (0, 1).
  explicit GaussianProcess(const std::vector<std::size_t>& categories, double least_noise = 1e-6);
  GaussianProcess(const GaussianProcess&);
  GaussianProcess& operator=(const GaussianProcess&);
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;
  ~GaussianProcess();

  std::size_t size() const;
  std::size_t dimensions() const;
  // Rows that came at once, by the last assign() or fit(): the bits of a model depend on it.
  std::size_t assigned() const;
  const MixedRows& rows() const;
  const KernelParameters& parameters() const;
  KernelParameters initial_parameters() const;

  // These rows (count x dimensions(), row by row) and no others, and parameters, which are clipped
  // to the limits of fit(). No targets yet. O(n^3).
  void assign(std::span<const double> rows, const KernelParameters& parameters);

  // One more row of inputs: one more row of the Cholesky factor, O(n^2). Positions in [0, 1],
  // categories as integers, NaN where inactive.
  void append(std::span<const double> row);
  // Forgets the last rows. To fewer than assigned() it costs O(n^3).
  void resize(std::size_t n);

  // Targets of the first y.size() rows, mean 0 and deviation 1; O(n^2). Rows without a target only
  // tell where the function is about to be known: they lower the deviation, as if they had
  // confirmed the mean (Desautels, Krause, Burdick, "Parallelizing Exploration-Exploitation
  // Tradeoffs in Gaussian Process Bandit Optimization", JMLR 2014).
  void set_targets(std::span<const double> y);

  // Maximises the posterior density given the rows with targets, from the present parameters, with
  // at most so many evaluations of O(n^3 + d n^2) each.
  void fit(int evaluations);

  // The same from the initial parameters, too, and with as many evaluations for each start. Warps
  // (math/gp/input_warp.h) are taken or dropped: they stay only while the posterior density with
  // them is 400 times that without, however many there are.
  enum class Warping { none, by_evidence };
  void refit(int evaluations, Warping warping);

  // At given parameters, up to a constant; the gradient in the order of pack().
  double log_posterior(const KernelParameters& parameters, std::span<double> gradient) const;

  Prediction predict(std::span<const double> row) const;  // O(n^2)
  // `rows`: count x dimensions(), row by row; of no dimensions there is one.
  std::vector<Prediction> predict_many(std::span<const double> rows) const;
  std::vector<double> fitted_means() const;  // at the rows with targets, O(n)

  // With the derivatives by positions; those by categories are 0.
  Prediction predict(std::span<const double> row, std::span<double> mean_gradient,
                     std::span<double> deviation_gradient) const;

  // What rows and targets, which the caller has anyway, do not tell: parameters and assigned().
  json save() const;
  // Into a model of the same categories and least noise; all or nothing. `rows`: row by row, the
  // first rows of the model that was saved, assigned() or more (of no dimensions as many as
  // targets); `targets`: those of set_targets(). It has the bits of a model of these rows to which
  // all happened that happened to the saved one. O(n^3).
  Result<void> load(const json& state, std::span<const double> rows,
                    std::span<const double> targets);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune
