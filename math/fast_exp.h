#pragma once
// An exponential that compilers can vectorise: TPE spends its time on sums of thousands of them. It
// is plain arithmetic, so all machines compute the same bits.
//
// Cody-Waite reduction by multiples of ln 2, then the Taylor polynomial of degree 7 on |r| <=
// ln(2)/2 (Muller, "Elementary Functions", 3rd ed., chapters 3 and 11).
#include <bit>
#include <cstdint>

namespace attune {

// Computes exp(-x) for x >= 0, infinity included. The relative error is at most 3e-7 up to x = 87
// (4e-6 with Degree 5); for larger x the result is exp(-87) = 2e-38. Float is float or a vector of
// floats, Int the matching vector of std::int32_t. It does not return the result, because how a
// vector is returned depends on the processor that a caller is compiled for.
template <class Float, class Int, int Degree = 7>
[[gnu::always_inline]] inline void exp_minus(const Float& x, Float& result) {
  constexpr float kRound = 0x1.8p23f;  // adding it rounds to an integer, kept in the low bits
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  // Compares as integers, which order non-negative floats in the same way: g++ 12 does not
  // vectorise the comparison of floats.
  const Int bits = __builtin_bit_cast(Int, x), most = Int{} + std::bit_cast<std::int32_t>(87.0f);
  const Float bounded = -__builtin_bit_cast(Float, Int(bits < most ? bits : most));
  const Float shifted = bounded * kLog2E + kRound;
  const Float k = shifted - kRound;
  const Float r = (bounded - k * kLn2High) - k * kLn2Low;
  Float p = Float{} + 1.0f / 120;
  if constexpr (Degree == 7) p = (r * (1.0f / 5040) + 1.0f / 720) * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const Int exponent = (__builtin_bit_cast(Int, shifted) + 127) << 23;
  result = p * __builtin_bit_cast(Float, exponent);
}

[[gnu::always_inline]] inline float exp_minus(float x) {
  float result;
  exp_minus<float, std::int32_t>(x, result);
  return result;
}

}  // namespace attune
