#pragma once
// The only source of random numbers. An algorithm is given an Rng and never seeds one itself, so
// the same seed and the same calls give the same answers on every machine and after a crash.
//
// Engine: xoshiro256** 1.0 (Blackman & Vigna, "Scrambled linear pseudorandom number generators",
// 2018), seeded by splitmix64. Its state is four words, so a snapshot is small. Distributions are
// those of Boost.Random, whose source is the same everywhere; those of std differ between standard
// libraries.
//
// Not thread safe; one owner.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace attune {

class Rng {
 public:
  using State = std::array<std::uint64_t, 4>;
  using result_type = std::uint64_t;  // makes it a UniformRandomBitGenerator

  explicit Rng(std::uint64_t seed);
  explicit Rng(const State& state) : state_(state) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()();

  double uniform();                         // in [0, 1)
  double uniform(double low, double high);  // in [low, high]; low when they are equal
  std::size_t index(std::size_t n);         // in [0, n), unbiased; n > 0
  std::int64_t integer(std::int64_t low, std::int64_t high);  // in [low, high)
  double normal();                                            // mean 0, deviation 1

  // An independent stream named `name`. It depends on the present state and does not change it, so
  // the same name twice in a row gives the same stream.
  Rng fork(std::string_view name) const;

  const State& state() const { return state_; }
  bool operator==(const Rng&) const = default;

 private:
  State state_;
};

}  // namespace attune
