#pragma once
// How far a local search looks around its centre: the side length of a trust region.
//
// Source: Eriksson, Pearce, Gardner, Turner, Poloczek, "Scalable Global Optimization via Local
// Bayesian Optimization" (NeurIPS 2019), section 2 and its supplement: doubled after so many
// successes in a row, halved after so many failures, at an end below 2^-7. There a success is a
// batch with a better result; here, where results come one by one, a round of as many results as
// trials were running when it began.
#include <cstddef>

#include "base/json.h"
#include "base/result.h"

namespace attune {

struct TrustRegionSettings {
  double initial_length = 0.8;  // in units of the space's sides; in [kLeastLength, kMostLength]
  std::size_t success_tolerance = 3;  // >= 1
};

// A value. Not thread safe.
class TrustRegion {
 public:
  static constexpr double kLeastLength = 0x1p-7;
  static constexpr double kMostLength = 1.6;

  // `failure_tolerance` >= 1: evaluations without an improvement.
  TrustRegion(const TrustRegionSettings& settings, std::size_t failure_tolerance);

  double length() const { return length_; }
  bool ended() const { return length_ < kLeastLength; }

  // A trial inside the region ended; `running`: how many trials in it were running, this one
  // included, >= 1.
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
