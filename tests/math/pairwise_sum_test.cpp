// The numbers are those of numpy 1.24.2, to the last bit.
#include "math/pairwise_sum.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

namespace attune::pairwise_sum_test {

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

TEST_CASE("pairwise sum: means are numpy's to the last bit, in every form of the sum") {
  struct Case {
    int n;
    double mean;
  };
  const Case cases[] = {
      {1, 0x1.a0b2f04096794p-2},    {2, 0x1.f7f12bd2b23e0p-6},   {7, 0x1.c84c5be999212p-6},
      {8, -0x1.5a9294e735e00p-10},  {9, -0x1.a22538838546cp-5},  {15, 0x1.c078aa7ccfcebp-7},
      {16, 0x1.539c38102614ep-4},   {17, 0x1.ecebd01ef58b1p-4},  {81, 0x1.91e5e769ff446p-5},
      {127, 0x1.a179f3109052ep-6},  {128, 0x1.869ead26d781ep-6}, {129, 0x1.dbb1e16ba06a5p-6},
      {136, 0x1.b126b99a311fap-5},  {200, 0x1.40ee7e57ccaacp-4}, {255, 0x1.878cf767d1013p-4},
      {256, 0x1.94d5e70964a80p-4},  {257, 0x1.83d6ac2f983fcp-4}, {1000, 0x1.12df86a378128p-4},
      {4097, 0x1.4d293f1436b74p-4},
  };
  for (const Case& one : cases) {
    CAPTURE(one.n);
    CHECK(mean(sequence(one.n)) == one.mean);
  }
}

TEST_CASE("pairwise sum: of nothing, and of negative zeros") {
  CHECK(pairwise_sum({}) == 0);
  CHECK(std::isnan(mean({})));
  CHECK(std::signbit(pairwise_sum(std::vector<double>{-0.0, -0.0})));
}

}  // namespace attune::pairwise_sum_test
