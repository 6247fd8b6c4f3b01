#include "math/trees/marginal_variance.h"

#include <algorithm>

#include "base/check.h"

namespace attune {
namespace {

// The marginal of a dimension, as far as leaves depend on it. It is a step function; the other
// leaves add a constant, which has no variance.
class Marginal {
 public:
  explicit Marginal(const Axis& axis) : axis_(axis), heights_(axis.weights.size()) {}

  // The probability of the values that a bound leaves.
  double probability(const Forest::Bound& bound) const {
    if (heights_.empty()) return up_to(bound.high) - up_to(bound.low);
    double sum = 0;
    for (std::size_t c = 0; c < heights_.size(); ++c) {
      if (bound.holds(c)) sum += axis_.weights[c];
    }
    return sum;
  }

  // Adds `height` where the bound holds.
  void add(const Forest::Bound& bound, double height) {
    if (heights_.empty()) {
      steps_.push_back({up_to(bound.low), height});
      steps_.push_back({up_to(bound.high), -height});
      return;
    }
    for (std::size_t c = 0; c < heights_.size(); ++c) {
      if (bound.holds(c)) heights_[c] += height;
    }
  }

  // Joins the steps at the same place: there are as many places as splits, but far more steps.
  void end_tree() {
    const auto begin = steps_.begin() + static_cast<std::ptrdiff_t>(joined_);
    std::sort(begin, steps_.end(), before);
    auto last = begin;
    for (auto step = begin; step != steps_.end(); ++step) {
      if (step == begin) continue;
      if (step->at == last->at) {
        last->height += step->height;
      } else {
        *++last = *step;
      }
    }
    if (begin != steps_.end()) steps_.erase(last + 1, steps_.end());
    joined_ = steps_.size();
  }

  double variance() {
    std::sort(steps_.begin(), steps_.end(), before);
    double mean = 0, variance = 0;
    each_level([&](double weight, double height) { mean += weight * height; });
    each_level([&](double weight, double height) {
      variance += weight * (height - mean) * (height - mean);
    });
    return variance;
  }

 private:
  struct Step {
    double at = 0, height = 0;
  };
  static bool before(const Step& a, const Step& b) {
    return a.at != b.at ? a.at < b.at : a.height < b.height;
  }

  // Calls use(probability, height) for all values together; the probabilities add up to 1.
  template <class Use>
  void each_level(Use use) const {
    for (std::size_t c = 0; c < heights_.size(); ++c) use(axis_.weights[c], heights_[c]);
    if (!heights_.empty()) return;
    double height = 0, from = 0;
    for (const Step& step : steps_) {
      use(step.at - from, height);
      height += step.height;
      from = step.at;
    }
    use(1 - from, height);
  }

  double up_to(double position) const { return probability_up_to(axis_, position); }

  const Axis& axis_;
  std::vector<double> heights_;  // of the categories
  std::vector<Step> steps_;      // of the positions
  std::size_t joined_ = 0;       // so many of them are of earlier trees
};

}  // namespace

double probability_up_to(const Axis& axis, double position) {
  if (position <= 0 || position >= 1 || !axis.probability_up_to) {
    return std::clamp(position, 0.0, 1.0);
  }
  return axis.probability_up_to(position);
}

std::vector<double> marginal_variances(const Forest& forest, std::span<const Axis> axes) {
  ATTUNE_CHECK(!forest.empty() && axes.size() == forest.dimensions());
  std::vector<Marginal> marginals(axes.begin(), axes.end());
  const double share = 1 / static_cast<double>(forest.trees());
  std::vector<double> parts;
  const auto add_leaf = [&](double mean, std::span<const Forest::Bound> bounds) {
    parts.clear();
    double all = share * mean;
    for (const Forest::Bound& bound : bounds) {
      parts.push_back(marginals[bound.dimension].probability(bound));
      all *= parts.back();
    }
    if (all == 0) return;  // also a leaf without any values
    for (std::size_t k = 0; k < bounds.size(); ++k) {
      marginals[bounds[k].dimension].add(bounds[k], all / parts[k]);
    }
  };
  for (std::size_t tree = 0; tree < forest.trees(); ++tree) {
    forest.visit_leaves(tree, add_leaf);
    for (Marginal& marginal : marginals) marginal.end_tree();
  }
  std::vector<double> variances;
  for (Marginal& marginal : marginals) variances.push_back(marginal.variance());
  return variances;
}

}  // namespace attune
