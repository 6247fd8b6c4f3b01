#pragma once
// A space of choices as a sequence of decisions (math/networks/sequence_policy.h): one for each
// choice, one for each candidate of a subset, whether it is taken. Points and sequences are one to
// one.
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
  // Nothing but Choice and Subset: see first_other().
  explicit DecisionSites(const Space& space);

  // The first parameter that is neither a choice nor a subset.
  static const Param* first_other(const Space& space);

  const std::vector<std::size_t>& options() const { return options_; }  // of each site, >= 1

  // Inactive parameters are not decided, nor is what has no alternative.
  Sequence sequence(const Point& point) const;
  Point sample(const SequencePolicy& policy, Rng& rng) const;

 private:
  // Decides in the order of the parameters: choose(parameter, site, offset, option_of) -> option,
  // where option_of(value of the parameter) is the option that it stands for.
  template <class Choose>
  Point walk(Choose&& choose) const;

  Space space_;
  std::vector<std::size_t> first_;    // site of each parameter
  std::vector<std::size_t> options_;  // of each site
};

}  // namespace attune
