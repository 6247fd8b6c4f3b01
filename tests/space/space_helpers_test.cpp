// The helpers of this folder; the one test here keeps them honest.
#include "tests/space/space_helpers.h"

#include <catch2/catch.hpp>

namespace attune::space_helpers_test {

TEST_CASE("the helper that judges points can say no") {
  const Space space = space_of(R"({"c":{"_type":"choice","_value":[
      {"_name":"a","q":{"_type":"quniform","_value":[0,1,0.6]}},{"_name":"b"}]}})");
  constexpr double kNone = Point::kInactive;
  CHECK(in_space(space, {{0, 0.6}}));
  CHECK(in_space(space, {{0, 1.0}}));
  CHECK(in_space(space, {{1, kNone}}));
  CHECK_FALSE(in_space(space, {{0, 0.5}}));
  CHECK_FALSE(in_space(space, {{0, kNone}}));
  CHECK_FALSE(in_space(space, {{1, 0.6}}));
  CHECK_FALSE(in_space(space, {{2, kNone}}));
}

}  // namespace attune::space_helpers_test
