// UnitCube: the coordinates, and the nearest point for any numbers.
#include "space/unit_cube.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/space/space_helpers.h"

namespace attune::unit_cube_test {

constexpr double kNone = Point::kInactive;

const char* const kAll = R"({
  "c":{"_type":"choice","_value":["a","b","c"]},
  "i":{"_type":"randint","_value":[2,6]},
  "u":{"_type":"uniform","_value":[-1,3]},
  "l":{"_type":"loguniform","_value":[0.0001,1]},
  "q":{"_type":"quniform","_value":[2,10,5]},
  "n":{"_type":"normal","_value":[1,2]},
  "s":{"_type":"input_choice","_value":{"candidates":["x","y","z"],"n_chosen":2}},
  "k":{"_type":"uniform","_value":[7,7]}})";

TEST_CASE("coordinates in the order of the parameters") {
  const UnitCube cube(space_of(kAll));
  REQUIRE(cube.dimensions() == 12);
  const auto x = cube.to_cube(Point{{1, 3, 0, 0.01, 5, 1, 0b101, 7}});
  const std::vector<double> expected = {0, 1, 0, 1.5 / 4, 0.25, 0.5, 3.0 / 8, 0.5, 1, 0, 1, 0.5};
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(i);
    CHECK(x[i] == Approx(expected[i]));
  }
}

TEST_CASE("any numbers have a nearest point") {
  const UnitCube cube(space_of(kAll));
  const double nan = std::nan(""), inf = HUGE_VAL;
  for (const double x : {0.5, nan}) {
    const Point centre = cube.from_cube(std::vector<double>(12, x));
    CHECK(centre.values[3] == Approx(0.01));
    CHECK(centre == Point{{0, 4, 1, centre.values[3], 5, 1, 0b011, 7}});
  }
  const Point low = cube.from_cube(std::vector<double>(12, -inf));
  CHECK(low.values[1] == 2);
  CHECK(low.values[2] == -1);
  CHECK(low.values[3] == Approx(0.0001));
  CHECK(low.values[4] == 2);
  CHECK(low.values[5] == Approx(1 - 2 * 8.2).margin(0.2));
  const Point high = cube.from_cube(std::vector<double>(12, inf));
  CHECK(high.values[1] == 5);
  CHECK(high.values[2] == 3);
  CHECK(high.values[3] == Approx(1));
  CHECK(high.values[4] == 10);
  CHECK(high.values[5] == Approx(1 + 2 * 8.2).margin(0.2));
  // Out of proportion: the largest of the three, and the two largest of the three.
  const Point odd = cube.from_cube(
      std::vector<double>{0.1, 0.3, 0.2, 0.99, 0.6, 0.5, 0.2, 0.5, 0.2, 0.1, 0.9, 0});
  CHECK(odd == Point{{1, 5, 1.4, odd.values[3], 5, 1, 0b101, 7}});
}

TEST_CASE("every cell of an integer is as wide as the others") {
  const UnitCube cube(space_of(R"({"i":{"_type":"randint","_value":[-1,3]}})"));
  std::vector<int> hits(4);
  for (int k = 0; k < 400; ++k) {
    const double x = (k + 0.5) / 400;
    ++hits[static_cast<std::size_t>(cube.from_cube(std::vector<double>{x}).values[0] + 1)];
  }
  CHECK(hits == std::vector<int>{100, 100, 100, 100});
}

TEST_CASE("inactive parameters are in the centre, and stay inactive on the way back") {
  const UnitCube cube(space_of(R"({"n":{"_type":"choice","_value":[
      {"_name":"a","x":{"_type":"uniform","_value":[0,1]}},
      {"_name":"b","c":{"_type":"choice","_value":[1,2]}}]}})"));
  const Point a{{0, 0.2, kNone}}, b{{1, kNone, 1}};
  CHECK(cube.to_cube(a) == std::vector<double>{1, 0, 0.2, 0.5, 0.5});
  CHECK(cube.to_cube(b) == std::vector<double>{0, 1, 0.5, 0, 1});
  CHECK(cube.from_cube(cube.to_cube(a)) == a);
  CHECK(cube.from_cube(cube.to_cube(b)) == b);
  CHECK(cube.from_cube(std::vector<double>{0.1, 0.2, 0.9, 0.3, 0.3}) == Point{{1, kNone, 0}});
}

TEST_CASE("a Normal keeps its digits within 5 sigma") {
  const UnitCube cube(space_of(R"({"n":{"_type":"normal","_value":[0,2]}})"));
  for (double z = -5; z <= 5; z += 0.125) {
    CAPTURE(z);
    const Point back = cube.from_cube(cube.to_cube(Point{{2 * z}}));
    CHECK(back.values[0] == Approx(2 * z).margin(2e-9).epsilon(0));
  }
  CHECK(std::isfinite(cube.from_cube(cube.to_cube(Point{{1000}})).values[0]));
}

}  // namespace attune::unit_cube_test
