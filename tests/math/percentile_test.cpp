// The numbers are those of numpy 1.24.2, to the last bit.
#include "math/percentile.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace attune::percentile_test {

// Numbers that any language computes alike.
std::vector<double> sequence(int n) {
  std::vector<double> all;
  std::uint64_t state = 12345;
  for (int i = 0; i < n; ++i) {
    state = (state * 1103515245 + 12345) % (std::uint64_t{1} << 31);
    all.push_back(static_cast<double>(state) / 1000000007.0 - 1.0);
  }
  return all;
}

TEST_CASE("percentile: numpy's to the last bit") {
  struct Case {
    int n;
    double percent, expected;
  };
  const Case cases[] = {
      {1, 0.0, 0x1.a0b2f04096794p-2},     {1, 10.0, 0x1.a0b2f04096794p-2},
      {1, 33.3, 0x1.a0b2f04096794p-2},    {1, 50.0, 0x1.a0b2f04096794p-2},
      {1, 66.7, 0x1.a0b2f04096794p-2},    {1, 99.9, 0x1.a0b2f04096794p-2},
      {1, 100.0, 0x1.a0b2f04096794p-2},   {2, 0.0, -0x1.61b4cac640318p-2},
      {2, 10.0, -0x1.14aa6b4591207p-2},   {2, 33.3, -0x1.84a528c318160p-4},
      {2, 50.0, 0x1.f7f12bd2b23e0p-6},    {2, 66.7, 0x1.404edf56389a8p-3},
      {2, 99.9, 0x1.9fedb6fa2e52cp-2},    {2, 100.0, 0x1.a0b2f04096794p-2},
      {5, 0.0, -0x1.8a9b57feb2584p-1},    {5, 10.0, -0x1.33815d5a11721p-1},
      {5, 33.3, -0x1.8e35e94099a09p-3},   {5, 50.0, 0x1.bfd63c475ded0p-4},
      {5, 66.7, 0x1.3b867f1777d52p-2},    {5, 99.9, 0x1.cc1474467ccbbp-2},
      {5, 100.0, 0x1.cc410dfe8b160p-2},   {20, 0.0, -0x1.8a9b57feb2584p-1},
      {20, 10.0, -0x1.de0b18b86a1acp-2},  {20, 33.3, -0x1.10c97c527a6f0p-3},
      {20, 50.0, 0x1.113ad1dcbaa44p-3},   {20, 66.7, 0x1.7a2b17b7c057dp-2},
      {20, 99.9, 0x1.1d5c4887ad92cp+0},   {20, 100.0, 0x1.1f0e141585baap+0},
      {333, 0.0, -0x1.fd80afc6aa67dp-1},  {333, 10.0, -0x1.910621d081d31p-1},
      {333, 33.3, -0x1.4d13b905a39bep-2}, {333, 50.0, 0x1.14b7def844120p-4},
      {333, 66.7, 0x1.c8fe1dff720aap-2},  {333, 99.9, 0x1.23fdaee02877cp+0},
      {333, 100.0, 0x1.249d42fa01fa6p+0},
  };
  for (const Case& one : cases) {
    SortedNumbers numbers;
    for (const double x : sequence(one.n)) numbers.insert(x);
    CAPTURE(one.n, one.percent);
    CHECK(percentile(numbers, one.percent) == one.expected);
  }
}

TEST_CASE("percentile: infinite numbers") {
  const double inf = std::numeric_limits<double>::infinity();
  SortedNumbers numbers;
  for (const double x : {1.0, inf, -inf}) numbers.insert(x);
  CHECK(percentile(numbers, 0) == -inf);
  CHECK(percentile(numbers, 50) == 1);
  numbers.insert(inf);
  numbers.insert(inf);
  CHECK(percentile(numbers, 90) == inf);
  CHECK(percentile(numbers, 100) == inf);
}

}  // namespace attune::percentile_test
