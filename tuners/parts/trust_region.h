#pragma once
// The size of a trust region: how far a local search may move away from its centre.
//
// Source: Eriksson, Pearce, Gardner, Turner, Poloczek, "Scalable Global Optimization via Local
// Bayesian Optimization" (NeurIPS 2019), section 2 and its supplement. The length doubles after a
// number of successes in a row, and halves after a number of failures; below 2^-7 the region ends.
// In the paper a batch with a better result is a success. Here results come one by one, so results
// form rounds: when a round begins, it is set to have as many results as trials are running in the
// region.
#include <cstddef>

#include "base/json.h"
#include "base/result.h"

namespace attune {

struct TrustRegionSettings {
  double initial_length = 0.8;  // share of each parameter's range; in [kLeastLength, kMostLength]
  std::size_t success_tolerance = 3;  // rounds; >= 1
};

// A value. Not thread safe.
class TrustRegion {
 public:
  static constexpr double kLeastLength = 0x1p-7;
  static constexpr double kMostLength = 1.6;

  // `failure_tolerance`: evaluations without an improvement, >= 1.
  TrustRegion(const TrustRegionSettings& settings, std::size_t failure_tolerance);

  double length() const { return length_; }
  bool ended() const { return length_ < kLeastLength; }

  // A trial that was proposed inside the region ended. `running`: how many of those trials were
  // running, this one included; >= 1.
  void count(bool improved, std::size_t running);

  json save() const;
  Result<void> load(const json& state);  // of the same settings; all or nothing

 private:
  void end_round();

  std::size_t success_tolerance_, failure_tolerance_;
  double length_;
  std::size_t successes_ = 0;    // rounds in a row
  std::size_t failures_ = 0;     // evaluations in rounds in a row
  std::size_t round_ = 0;        // results that make the present round; 0: none has come
  std::size_t outstanding_ = 0;  // of them
  bool improved_ = false;
};

}  // namespace attune
