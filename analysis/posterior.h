#pragma once
// What a Gaussian process, fitted to the results of an experiment, expects along one parameter or
// over two, with all others fixed: for pictures.
//
// The model is that of the tuner GP (math/gp/gaussian_process.h over space/features.h). Its targets
// are results as they are, except that those above the median by more than five distances between
// the quartiles count as that. Where they lie, the mean is too good.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/evidence.h"

namespace attune {

struct PosteriorAxis {
  std::string path;
  // Of the parameter, as trials see them (Point::values), ascending and different:
  //   real       evenly spread on its own scale, the logarithmic one of a log domain, and rounded
  //              to q; a normal from mu - 3 sigma to mu + 3 sigma
  //   integer    evenly spread, all if there is room
  //   choice     the index of each candidate, without those that equal an earlier one
  std::vector<double> values;
};

struct PosteriorSlice {
  PosteriorAxis x, y;  // y has no path and no values along one parameter
  // Of the function, without the noise of single results, in the unit of the results. Element
  // j * x.values.size() + i belongs to value i of x and value j of y.
  std::vector<double> mean, deviation;
  Point at;  // where the other parameters are; x and y have the values they had there
};

struct PosteriorSettings {
  std::size_t most_trials = 400;  // that are fitted; at least 3
  std::size_t most_values = 101;  // of an axis of numbers, along one parameter; at least 2
  std::size_t most_cells = 41;    // of an axis of numbers, over two parameters; at least 2
};

// What the model expects of a trial if it is tried again, in the unit of the results.
struct Expectation {
  std::size_t trial = 0;       // its index in the evidence
  double mean = 0;             // of its results, if it were repeated many times
  double mean_deviation = 0;   // how uncertain that mean is
  double trial_deviation = 0;  // how far single results lie from their mean: the noise
};

// A value. Not thread safe. The same evidence gives the same numbers.
class Posterior {
 public:
  // Fits the model. Smaller results are better. Of more than `most_trials` trials it takes evenly
  // spaced ones, sorted by their result, among them the best and the worst. Measured on four
  // functions of 2, 6 and 20 parameters, with trials of which 70 % approach the best: with the best
  // half and evenly spaced ones of the rest, as the tuner takes, the mean error was larger, also
  // beside the best. These trials are so near to each other that few of them say as much.
  //
  // O(n log n) for n trials, and O(most_trials^3): for 400 trials 0.15 s with 20 parameters, up to
  // 0.4 s with 60. Errors: fewer than 3 trials; all results are equal; no parameter varies.
  static Result<Posterior> fit(const Evidence& evidence, const PosteriorSettings& settings = {});
  Posterior(const Posterior&) = delete;
  Posterior& operator=(const Posterior&) = delete;
  Posterior(Posterior&&) noexcept;
  Posterior& operator=(Posterior&&) noexcept;
  ~Posterior();

  std::size_t trials() const;  // that were fitted
  const Point& best() const;   // the point of the lowest result, of equal ones the first

  // Of the trials that were fitted, the one with the lowest mean. Where results are noisy, the
  // lowest result belongs to a good trial that was also lucky; this one's neighbours were good,
  // too.
  Expectation lowest() const;

  // Along the parameter of a path, and over two. `at` is a point of the space. Where x or y choose
  // between options, the parameters of an option have the values of the best fitted trial that took
  // it; if none has, those in the middle of their domains. Hard constraints are left out of
  // account.
  //
  // Errors, which name the parameter: unknown; not active at `at`; with one value only; a choice of
  // more than 100 candidates; an input_choice; x and y are the same, or one of them is active only
  // with some values of the other. O(most_trials^2) for each value.
  Result<PosteriorSlice> slice(std::string_view x, const Point& at) const;
  Result<PosteriorSlice> grid(std::string_view x, std::string_view y, const Point& at) const;

 private:
  struct Impl;
  explicit Posterior(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune
