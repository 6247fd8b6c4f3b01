#pragma once
// A Gaussian process for a function that drifts with time: what was observed long ago says little
// of the present.
//
// Source: Bogunovic, Scarlett, Cevher, "Time-Varying Gaussian Process Bandit Optimization" (AISTATS
// 2016), section 3: the kernel is a squared exponential of the inputs, times (1 - forgetting) to
// the power of half the distance in time.
#include <cstddef>
#include <span>
#include <vector>

namespace attune {

struct DriftKernel {
  double length = 1;      // of squared distances, > 0
  double forgetting = 0;  // in [0, 1)
  double noise = 0.1;     // variance, > 0; that of the function is 1
};

// A value. n rows cost O(n^3) once, and O(n^2) for each prediction.
class DriftProcess {
 public:
  struct Row {
    double time = 0;
    std::vector<double> x;
  };
  // `targets`: of the first rows, with mean 0 and deviation 1; there is one at least. The other
  // rows have none: they only lower the deviation near them.
  DriftProcess(const std::vector<Row>& rows, std::span<const double> targets,
               const DriftKernel& kernel);

  // The logarithm of the likelihood of the targets, up to a constant. Without rows that have none.
  double log_likelihood() const;

  struct Prediction {
    double mean = 0, deviation = 0;
  };
  Prediction predict(const Row& row) const;

 private:
  double covariance(const Row& a, const Row& b) const;
  std::vector<double> solved(std::vector<double> values) const;  // L^-1 values

  std::vector<Row> rows_;
  std::size_t known_;  // rows with targets
  DriftKernel kernel_;
  std::vector<double> factor_;  // the lower Cholesky factor L, row by row
  std::vector<double> z_;       // L^-1 targets
};

// The kernel, of a small grid, under which the targets are the most likely.
DriftKernel likely_kernel(const std::vector<DriftProcess::Row>& rows,
                          std::span<const double> targets);

}  // namespace attune
