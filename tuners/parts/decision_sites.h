#pragma once
// Presents a space of choices as a sequence of decisions (math/networks/sequence_policy.h). Each
// choice is one decision; each candidate of a subset is a decision whether to take it. Every point
// has exactly one sequence, and the reverse.
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "math/networks/sequence_policy.h"
#include "space/space.h"

namespace attune {

// A value.
class DecisionSites {
 public:
  // The space may contain only Choice and Subset parameters: check with first_other().
  explicit DecisionSites(const Space& space);

  // The first parameter that is neither a choice nor a subset; null if there is none.
  static const Param* first_other(const Space& space);

  const std::vector<std::size_t>& options() const { return options_; }  // of each site, >= 1

  // The decisions that make `point`. A sequence has no decision for an inactive parameter, nor
  // where only one option is possible.
  Sequence sequence(const Point& point) const;
  Point sample(const SequencePolicy& policy, Rng& rng) const;

 private:
  // Builds a point by calling choose(parameter, site, offset, option_of) -> option for each
  // decision, in the order of the parameters. option_of(value of the parameter) is the option that
  // this value stands for. `offset` is added to the logarithm of the odds of option 1 against
  // option 0.
  template <class Choose>
  Point walk(Choose&& choose) const;

  Space space_;
  std::vector<std::size_t> first_;    // first site of each parameter
  std::vector<std::size_t> options_;  // of each site
};

}  // namespace attune
