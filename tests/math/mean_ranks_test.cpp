#include "math/mean_ranks.h"

#include <catch2/catch.hpp>

namespace attune::mean_ranks_test {

using Numbers = std::vector<double>;

TEST_CASE("mean ranks: from 1, and equal numbers share theirs") {
  CHECK(mean_ranks(Numbers{}).empty());
  CHECK(mean_ranks(Numbers{7}) == Numbers{1});
  CHECK(mean_ranks(Numbers{3, -1, 2}) == Numbers{3, 1, 2});
  CHECK(mean_ranks(Numbers{5, 1, 5, 5, 0}) == Numbers{4, 2, 4, 4, 1});
  CHECK(mean_ranks(Numbers{2, 2}) == Numbers{1.5, 1.5});
}

}  // namespace attune::mean_ranks_test
