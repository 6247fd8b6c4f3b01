#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <numbers>
#include <ostream>
#include <random>
#include <utility>

namespace digits {

// The engine is specified bit by bit by the standard, the distributions of <random> are not: with
// our own few lines a seed means the same training run under every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  void save(std::ostream& out) const { out << engine_ << '\n'; }
  void restore(std::istream& in) { in >> engine_; }

  // In [0, 1), with all 53 bits of a double.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  // In [0, count); the bias of this short form is far below 1e-15 for the counts in use here.
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(count));
  }

  // Box and Muller; 1 - uniform() is never 0, so the logarithm is finite.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 engine_;
};

// Fisher and Yates; std::shuffle is left open by the standard in the same way.
template <typename Container>
void shuffle(Container& items, Random& random) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[random.below(left)]);
  }
}

}  // namespace digits
