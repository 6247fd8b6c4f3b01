#include "base/rng.h"

#include <bit>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "base/check.h"

namespace attune {
namespace {

std::uint64_t splitmix64(std::uint64_t& x) {
  std::uint64_t z = (x += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// FNV-1a: stable across machines, unlike std::hash.
std::uint64_t hash(std::string_view text, std::uint64_t h = 0xcbf29ce484222325ULL) {
  for (unsigned char c : text) h = (h ^ c) * 0x100000001b3ULL;
  return h;
}

}  // namespace

Rng::Rng(std::uint64_t seed) {
  for (auto& word : state_) word = splitmix64(seed);
}

Rng::result_type Rng::operator()() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::uniform() { return boost::random::uniform_01<double>()(*this); }

double Rng::uniform(double low, double high) {
  // Clamped: rounding of low + u * (high - low) may step over high by one ulp.
  const double x = low + uniform() * (high - low);
  return x < low ? low : (x > high ? high : x);
}

std::size_t Rng::index(std::size_t n) {
  ATTUNE_CHECK(n > 0);
  return boost::random::uniform_int_distribution<std::size_t>(0, n - 1)(*this);
}

std::int64_t Rng::integer(std::int64_t low, std::int64_t high) {
  ATTUNE_CHECK(low < high);
  return boost::random::uniform_int_distribution<std::int64_t>(low, high - 1)(*this);
}

double Rng::normal() { return boost::random::normal_distribution<double>()(*this); }

Rng Rng::fork(std::string_view name) const {
  std::uint64_t seed = hash(name);
  for (const auto word : state_) seed = splitmix64(seed) ^ word;
  return Rng(seed);
}

}  // namespace attune
