#pragma once
// Regression by a Gaussian process over positions and categories.
//
// Kernel: Matern 5/2 with a length scale for each dimension (Rasmussen, Williams, "Gaussian
// Processes for Machine Learning", 2006, sections 4.2 and 5.1), on the squared distances of
// mixed_rows.h, in which two categories are either equal or different. Zero mean, homoscedastic
// normal noise.
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

// A value. Not thread safe. Costs are given for n observations and d dimensions.
class GaussianProcess {
 public:
  // `categories`: how many each dimension has; 0: a position. `least_noise`: the least variance of
  // the noise, in (0, 1).
  explicit GaussianProcess(const std::vector<std::size_t>& categories, double least_noise = 1e-6);
  GaussianProcess(const GaussianProcess&);
  GaussianProcess& operator=(const GaussianProcess&);
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;
  ~GaussianProcess();

  std::size_t size() const;
  std::size_t dimensions() const;
  // The number of rows that came together in the last assign() or fit(). The bits of a model depend
  // on it, so save() stores it.
  std::size_t assigned() const;
  const MixedRows& rows() const;
  const KernelParameters& parameters() const;
  KernelParameters initial_parameters() const;

  // Replaces the rows by these (count x dimensions(), row by row), and sets the parameters, clipped
  // to the limits of fit(). There are no targets then. O(n^3).
  void assign(std::span<const double> rows, const KernelParameters& parameters);

  // Adds a row of inputs, which adds a row to the Cholesky factor; O(n^2). Positions are in [0, 1],
  // categories are integers, inactive dimensions NaN.
  void append(std::span<const double> row);
  // Keeps the first n rows. Costs O(n^3) if n is below assigned().
  void resize(std::size_t n);

  // Sets the targets of the first y.size() rows, with mean 0 and deviation 1; O(n^2). The other
  // rows have no target: they are points whose results are about to be known. They lower the
  // deviation, as if their results had confirmed the mean (Desautels, Krause, Burdick,
  // "Parallelizing Exploration-Exploitation Tradeoffs in Gaussian Process Bandit Optimization",
  // JMLR 2014).
  void set_targets(std::span<const double> y);

  // Maximises the posterior density, given the rows with targets. Starts from the present
  // parameters and makes at most `evaluations` evaluations of O(n^3 + d n^2) each. Returns
  // log_posterior() at the new ones.
  double fit(int evaluations);

  // As fit(), but also starts from the initial parameters; each start may make `evaluations`
  // evaluations. `by_evidence`: warps (math/gp/input_warp.h) are used only if the posterior density
  // with them is at least 400 times that without, however many there are; present ones are dropped
  // otherwise.
  enum class Warping { none, by_evidence };
  void refit(int evaluations, Warping warping);

  // The logarithm of the posterior density at these parameters, up to a constant. Writes the
  // gradient in the order of pack().
  double log_posterior(const KernelParameters& parameters, std::span<double> gradient) const;

  // The logarithm of the density of the targets at the present parameters, up to a constant that is
  // the same for all targets of these rows. O(n).
  double log_density_of_targets() const;

  Prediction predict(std::span<const double> row) const;  // O(n^2)
  // `rows`: count x dimensions(), row by row. Without dimensions there is one row.
  std::vector<Prediction> predict_many(std::span<const double> rows) const;
  std::vector<double> predict_means(std::span<const double> rows) const;  // O(d n) each
  std::vector<double> fitted_means() const;  // at the rows with targets, O(n)

  // For each pair of rows: the prediction at `rows`, and by how much (a standard deviation) its
  // mean would change once a noisy result at `observed` were known. O(n^2) each.
  struct Lesson {
    Prediction prediction;
    double change = 0;
  };
  std::vector<Lesson> predict_lessons(std::span<const double> rows,
                                      std::span<const double> observed) const;

  // Also writes the derivatives by positions; those by categories are 0.
  Prediction predict(std::span<const double> row, std::span<double> mean_gradient,
                     std::span<double> deviation_gradient) const;

  // Stores the parameters and assigned(): the caller keeps rows and targets.
  json save() const;
  // Loads into a model of the same categories and least noise. `rows`: the first rows of the saved
  // model, row by row, at least assigned() (without dimensions: as many as targets). `targets`:
  // those of set_targets(). The loaded model has exactly the bits of the saved one. On an error
  // nothing changes. O(n^3).
  Result<void> load(const json& state, std::span<const double> rows,
                    std::span<const double> targets);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune
