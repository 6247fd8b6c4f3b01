#pragma once
// Where trials fail: the probability that a trial ends with a result.
//
// A Gaussian process regresses 1 for a failed trial and -1 for another one, as in the
// classification by least squares (Rasmussen, Williams, "Gaussian Processes for Machine Learning",
// 2006, section 6.5). Its noise learns how much of the failing is chance: where trials fail by
// accident the probability is the same everywhere, and where a part of the space fails, that part
// is shunned.
#include <optional>

#include "base/json.h"
#include "base/result.h"
#include "space/features.h"
#include "tuners/parts/acquisition_search.h"
#include "tuners/parts/history.h"
#include "tuners/parts/surrogate.h"

namespace attune {

// A value. Not thread safe. The same calls give exactly the same numbers.
class FailureModel {
 public:
  explicit FailureModel(const Features& features);

  // Adds the results that are new in the history, if some trial has failed and some other has a
  // usable result. It costs nothing before.
  void update(const History& history);

  // Whether some trial has failed: weighed() changes the acquisition.
  bool knows_failures() const { return threshold_.has_value(); }

  // The acquisition, which is a logarithm, plus log P(the trial ends with a result). The result
  // points into this model: it is valid until the model changes.
  Acquisition weighed(Acquisition acquisition) const;

  json save() const;
  Result<void> load(const json& state, const History& history);  // all or nothing

 private:
  void find_threshold(const History& history);

  Surrogate surrogate_;
  // The target in the middle between those of failed and other trials; nothing unless both occur.
  std::optional<double> threshold_;
};

}  // namespace attune
