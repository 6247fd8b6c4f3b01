#pragma once
// CMA-ES: a normal distribution that follows good results, with its step size and its covariance.
//
// Source: Hansen, "The CMA Evolution Strategy: A Tutorial" (arXiv 1604.00772, 2016), figure 6:
// cumulative step-size adaptation, rank-one, rank-mu and active covariance update. In place of the
// covariance matrix its diagonal, on demand: Ros, Hansen (PPSN 2008). Results that were not drawn
// from the present distribution: Hansen, "Injecting External Solutions Into CMA-ES" (2011), section
// 3. Discrete coordinates: Hamano, Saito, Nomura, Shirakawa, "CMA-ES with Margin" (GECCO 2022).
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

// For each coordinate the boundaries between the intervals within which it makes no difference,
// ascending; none for a continuous one.
using CmaCells = std::vector<std::vector<double>>;

struct CmaStart {
  std::vector<double> mean;
  double sigma = 0.2;  // > 0
  // Column by column, symmetric, positive definite, or its diagonal; if empty the identity.
  std::vector<double> covariance = {};
  bool diagonal = false;
  std::size_t population = 0;  // results in a generation as a rule; >= 2
};

struct CmaResult {
  std::vector<double> x = {};     // finite
  std::vector<bool> active = {};  // coordinates that had an effect; empty: all of them
  bool injected = false;          // not drawn from the present distribution
};

// A value. n^2 numbers (3 n when diagonal), and n^2 more after the first draw. At least one
// coordinate. Not thread safe.
class CmaEs {
 public:
  CmaEs(const CmaStart& start, CmaCells cells);

  // A draw: O(n^2), and O(n^3) for the first one after an update; diagonal: O(n).
  std::vector<double> sample(Rng& rng);

  // A generation: at least two results, best first. Any number of them, the weights are those for
  // that number. Coordinates without an effect do not move the mean.
  void update(std::span<const CmaResult> ranked);

  // Moves the mean into [low, high]^n, which contains all boundaries of cells. For callers who
  // treat all points beyond an end as that end: nothing else keeps the mean from drifting away
  // there.
  void bound_mean(double low, double high);

  // Whether nothing more can come of it, whatever the results are: step below 1e-12 of the first
  // one in all coordinates, or 1e4 of it, condition of the covariance above 1e14, a coordinate
  // whose mean a fifth of its deviation does not change (Hansen 2016, section B.3).
  bool is_exhausted();

  std::size_t dimensions() const { return mean_.size(); }
  const std::vector<double>& mean() const { return mean_; }
  double sigma() const { return sigma_; }
  double deviation(std::size_t i) const;  // of a draw's coordinate i

  json save() const;
  // All of `cells` are taken from the caller, as are `diagonal` and `population`.
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
  std::vector<double> scales_;      // A of CMA-ES with margin: 1 where continuous
  std::vector<double> step_path_;   // p_sigma
  std::vector<double> path_;        // p_c
  double generations_ = 0;

  // C = basis diag(lengths)^2 basis', made when it is needed: a function of C, not saved.
  bool decomposed_ = false;
  std::vector<double> basis_;  // empty when diagonal
  std::vector<double> lengths_;
};

}  // namespace attune
