#pragma once
// What a tuner of several objectives learns from an outcome.
#include <cstddef>
#include <optional>
#include <vector>

#include "base/trial.h"
#include "tuners/tuner.h"

namespace attune {

// Made once of the Context that the registry hands to a tuner, then asked for each outcome. A
// value: copies know the same. Never empty: without objectives it is the loss alone.
class Objectives {
 public:
  explicit Objectives(const Context& context) : all_(context.objectives) {}

  std::size_t size() const { return all_.empty() ? 1 : all_.size(); }
  bool several() const { return all_.size() > 1; }

  // size() finite numbers, each to be minimised, in the order of the experiment: the loss first, of
  // the others what was reported, negated where more is better. Nothing when one of them is missing
  // or not finite, so always for trials that failed. Of a metric that was reported twice the first
  // counts.
  std::optional<std::vector<double>> operator()(const Outcome& outcome) const;

 private:
  std::vector<Objective> all_;
};

}  // namespace attune
