#include "rungs/population_epochs.h"

#include <catch2/catch.hpp>
#include <string>

namespace attune::population_epochs_test {

// "2<0" copies 0, "1" goes on, "3!" begins anew; each draw takes the last of the donors.
std::string starts(const std::vector<std::size_t>& ended,
                   const std::vector<std::optional<double>>& losses, double fraction) {
  std::string text;
  for (const EpochStart& start :
       next_epoch(ended, losses, fraction, [](std::size_t donors) { return donors - 1; })) {
    text += (text.empty() ? "" : " ") + std::to_string(start.member);
    if (start.donor) text += "<" + std::to_string(*start.donor);
    if (start.begins_anew) text += "!";
  }
  return text;
}

TEST_CASE("epochs: the worst copy one of the best, and start first") {
  CHECK(starts({0, 1, 2, 3, 4}, {5, 1, 4, 2, 3}, 0.2) == "0<1 2 4 3 1");
  CHECK(starts({0, 1, 2, 3, 4}, {5, 1, 4, 2, 3}, 0.21) == "0<3 2<3 4 3 1");  // rounded up
  CHECK(starts({0, 1, 2}, {1, 2, 3}, 0) == "2 1 0");
  CHECK(starts({0}, {1}, 0.2) == "0<0");
  CHECK(starts({0, 1}, {1, 2}, 1) == "1<1 0<1");
}

TEST_CASE("epochs: of equal losses that of the first that ended is the best") {
  CHECK(starts({2, 0, 1}, {1, 1, 1}, 0.1) == "1<2 0 2");
}

TEST_CASE("epochs: failed members copy, and nobody copies them") {
  CHECK(starts({0, 1, 2, 3}, {{}, 2, {}, 1}, 0.25) == "2<3 0<3 1 3");
  CHECK(starts({0, 1, 2, 3}, {{}, {}, {}, 1}, 0.75) == "2<3 1<3 0<3 3");
  CHECK(starts({0, 1}, {{}, 1}, 0) == "0<1 1");
  CHECK(starts({0, 1}, {{}, {}}, 0.5) == "1! 0!");
}

}  // namespace attune::population_epochs_test
