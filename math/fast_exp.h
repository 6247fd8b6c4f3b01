#pragma once
// An exponential that compilers vectorise: sums of thousands of terms are what multivariate TPE
// spends its time on. Plain arithmetic, so the same bits on every machine.
//
// Cody-Waite reduction by multiples of ln 2, then the Taylor polynomial of degree 7 on
// |r| <= ln(2)/2 (Muller, "Elementary Functions", 3rd ed., chapters 3 and 11).
#include <algorithm>
#include <bit>
#include <cstdint>

namespace attune {

// exp(-x) for x >= 0, infinity included, within 3e-7 relative up to 87; beyond, exp(-87) = 2e-38.
[[gnu::always_inline]] inline float exp_minus(float x) {
  constexpr float kRound = 0x1.8p23f;  // adding it rounds to an integer, kept in the low bits
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  // As integers, which order these numbers alike: g++ 12 does not vectorise it for floats.
  const float bounded = -std::bit_cast<float>(
      std::min(std::bit_cast<std::int32_t>(x), std::bit_cast<std::int32_t>(87.0f)));
  const float shifted = bounded * kLog2E + kRound;
  const float k = shifted - kRound;
  const float r = (bounded - k * kLn2High) - k * kLn2Low;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const std::uint32_t exponent = (std::bit_cast<std::uint32_t>(shifted) + 127) << 23;
  return p * std::bit_cast<float>(exponent);
}

}  // namespace attune
