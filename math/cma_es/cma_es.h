#pragma once
// CMA-ES: a normal distribution that follows good results by adapting its mean, step size and
// covariance.
//
// Source: Hansen, "The CMA Evolution Strategy: A Tutorial" (arXiv 1604.00772, 2016), figure 6:
// cumulative step-size adaptation, rank-one, rank-mu and active covariance update. Optionally only
// the diagonal of the covariance matrix is kept: Ros, Hansen (PPSN 2008). Results that were not
// drawn from the present distribution: Hansen, "Injecting External Solutions Into CMA-ES" (2011),
// section 3. Discrete coordinates: Hamano, Saito, Nomura, Shirakawa, "CMA-ES with Margin" (GECCO
// 2022).
//
// The caller ranks results, chooses how many make a generation, and brings points into bounds.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"
#include "math/cma_es/cma_es_rates.h"

namespace attune {

// For each coordinate, the boundaries between its cells, ascending: all numbers within a cell stand
// for the same value. Empty for a continuous coordinate.
using CmaCells = std::vector<std::vector<double>>;

struct CmaStart {
  std::vector<double> mean;
  double sigma = 0.2;  // > 0
  // The matrix column by column, symmetric and positive definite, or its diagonal. Empty: the
  // identity.
  std::vector<double> covariance = {};
  bool diagonal = false;
  std::size_t population = 0;  // usual number of results in a generation; >= 2
};

struct CmaResult {
  std::vector<double> x = {};     // finite
  std::vector<bool> active = {};  // coordinates that had an effect; empty: all of them
  bool injected = false;          // not drawn from the present distribution
};

// A value. Not thread safe. Needs at least one coordinate. It holds n^2 numbers (3 n when
// diagonal), and n^2 more after the first draw.
class CmaEs {
 public:
  CmaEs(const CmaStart& start, CmaCells cells);

  // Draws a point. O(n^2), and O(n^3) for the first draw after an update; diagonal: O(n).
  std::vector<double> sample(Rng& rng);

  // Learns from a generation: at least two results, best first. The weights follow from the number
  // of results, which may change. A coordinate without an effect in a result does not move the
  // mean.
  void update(std::span<const CmaResult> ranked);

  // Moves the mean into [low, high]^n, which must contain all boundaries of cells. For callers for
  // whom every point beyond an end counts as the end: otherwise the mean may drift away there
  // without limit.
  void bound_mean(double low, double high);

  // Whether the distribution has degenerated, so that further results are useless (Hansen 2016,
  // section B.3): the step is below 1e-12 of the first one in all coordinates, or above 1e4 of it;
  // the condition of the covariance is above 1e14; or adding a fifth of its deviation does not
  // change the mean of a coordinate.
  bool is_exhausted();

  std::size_t dimensions() const { return mean_.size(); }
  const std::vector<double>& mean() const { return mean_; }
  double sigma() const { return sigma_; }
  double deviation(std::size_t i) const;  // of a draw's coordinate i

  json save() const;
  // `cells`, `diagonal` and `population` are not saved: the caller gives them.
  static Result<CmaEs> load(const json& state, CmaCells cells, bool diagonal,
                            std::size_t population);

 private:
  void decompose();
  void apply_margin();
  double variance(std::size_t i) const;  // of C

  CmaCells cells_;
  bool diagonal_;
  std::size_t population_;
  CmaRates rates_;  // of the last generation
  std::vector<double> mean_;
  double sigma_;
  double first_sigma_;
  std::vector<double> covariance_;  // C: n^2 by columns, or its diagonal
  std::vector<double> scales_;      // matrix A of CMA-ES with margin; 1 where continuous
  std::vector<double> step_path_;   // p_sigma
  std::vector<double> path_;        // p_c
  double generations_ = 0;

  // C = basis diag(lengths)^2 basis'. Computed when needed, and not saved, because it follows from
  // C.
  bool decomposed_ = false;
  std::vector<double> basis_;  // empty when diagonal
  std::vector<double> lengths_;
};

}  // namespace attune
