#pragma once
// What a trial needs and what a machine has.
#include <cstdint>
#include <map>
#include <string>

namespace attune {

// Amounts, never negative. A kind that is absent or 0 is not needed (or not available).
struct Resources {
  double cpu = 0;                        // cores; fractions allowed
  double gpu = 0;                        // devices; fractions allowed
  double memory = 0;                     // bytes
  std::map<std::string, double> custom;  // the user's own kinds, by name

  friend bool operator==(const Resources&, const Resources&) = default;
};

// Which GPUs trials see.
enum class GpuUse {
  inherit,  // CUDA_VISIBLE_DEVICES as we have it
  hide,     // trialGpuNumber: 0
  assign,   // each trial gets as many as its resources say
};

}  // namespace attune
