#pragma once
// The model of BOHB: two kernel densities over the parameters, one of the good configurations and
// one of the others. A configuration is promising where the ratio good / others is large.
//
// Source: Falkner, Klein, Hutter, "BOHB: Robust and Efficient Hyperparameter Optimization at Scale"
// (ICML 2018), section 3.2 and appendix; numbers and names as in NNI. What differs here:
// * Kernels of numbers are cut at the bounds of the parameter, so that no mass is lost beyond them.
// * The spread of a categorical parameter does not depend on the order of its candidates: instead
//   of the variance of their indices, half of the Gini impurity counts. For two candidates both are
//   the same.
// * Parameters inside an option of a nested choice have a model of their own, of the trials in that
//   option (tuners/parts/tpe_groups.h). NNI cannot search nested choices.
// * What failed is never good.
//
// With NNI's defaults the search narrows early where losses are smooth: of 64 candidates the best
// is nearly always close to a known good one. On the function of bohb_model_test.cpp 8 candidates
// (num_samples) end at a third of the loss; a separate program of NNI's formulas shows the same.
//
// Private to BOHB.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "math/density/product_mixture.h"
#include "tuners/parts/tpe_groups.h"
#include "tuners/parts/tpe_history.h"

namespace attune {

struct BohbModelSettings {
  std::size_t min_points = 0;  // at least one more than the variables counts in any case
  std::size_t top_percent = 15;
  std::size_t samples = 64;      // candidates
  double bandwidth_factor = 3;   // by which candidates of numbers spread more than the density
  double min_bandwidth = 0.001;  // in the unit of a variable's axis: its range, or a deviation
};

// How many of the results, in the order of their losses, are good, and how many behind these make
// the other density. Nothing if there are too few for a model. Of `results` so many as `usable`
// have a loss.
struct BohbSplit {
  std::size_t good = 0, bad = 0;
  bool operator==(const BohbSplit&) const = default;
};
std::optional<BohbSplit> bohb_split(std::size_t results, std::size_t usable, std::size_t variables,
                                    const BohbModelSettings& settings);

// The normal reference rule: the bandwidths on each variable of a group for these trials, which are
// rows of all variables. Numbers: 1.06 deviation n^(-1 / (4 + d)). Categories: the probability of
// all other categories together in the kernel of Aitchison and Aitken (1976), by the same formula
// with the deviation above, at most (K - 1) / K, which is the uniform distribution.
std::vector<double> bohb_bandwidths(const TpeGroups& groups, const TpeGroups::Group& group,
                                    std::span<const TpeGroups::Coordinate* const> trials,
                                    double min_bandwidth);

// The two densities of one group. A value, immutable once made.
class BohbDensity {
 public:
  // Of a group's trials by loss (TpeHistory::by_loss). At most kMostKernels trials make a density:
  // of more, evenly spaced ones stand for all.
  static constexpr std::size_t kMostKernels = 512;
  BohbDensity(const TpeHistory& history, std::size_t group, const BohbSplit& split,
              const BohbModelSettings& settings);

  // log(good / others) at each of the points (values of the group's variables, point by point).
  // Densities below 1e-32 count as 1e-32: far from all trials both are noise.
  std::vector<double> log_ratios(std::span<const double> points) const;

  // The best of `count` candidates, which are drawn around the good trials: one coordinate for each
  // variable of the group, rounded (TpeGroups::value() takes them).
  std::vector<double> suggest(std::size_t count, Rng& rng) const;

 private:
  const TpeGroups* groups_;  // of the history, which must live longer
  const TpeGroups::Group* group_;
  ProductMixture good_, bad_, wide_;
};

}  // namespace attune
