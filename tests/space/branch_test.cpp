#include "space/branch.h"

#include <catch2/catch.hpp>

#include "space/parse.h"
#include "space/sample.h"

namespace attune::branch_test {

Space space_of(const char* text) { return parse_space(parse_json(text).value()).value(); }

const char* const kModels = R"({
    "lr": {"_type": "uniform", "_value": [0, 1]},
    "model": {"_type": "choice", "_value": [
        {"_name": "tree", "depth": {"_type": "randint", "_value": [1, 9]}},
        {"_name": "net", "layers": {"_type": "choice", "_value": [
            {"_name": "one"},
            {"_name": "two", "width": {"_type": "uniform", "_value": [0, 1]}}]}}]},
    "seed": {"_type": "randint", "_value": [0, 100]}})";

TEST_CASE("branches: the root is the first nested choice at the top with several options") {
  CHECK(root_choice(space_of(kModels)) == 1u);
  CHECK_FALSE(root_choice(space_of(R"({"x": {"_type": "choice", "_value": ["a", "b"]}})")));
  CHECK_FALSE(root_choice(space_of(R"({"m": {"_type": "choice", "_value": [
      {"_name": "only", "x": {"_type": "uniform", "_value": [0, 1]}}]}})")));
}

TEST_CASE("branches: to enter one draws its parameters and keeps the others") {
  const Space space = space_of(kModels);
  Rng rng(1);
  int deep = 0;
  for (int i = 0; i < 200; ++i) {
    const Point before = sample(space, rng);
    for (const std::size_t option : {std::size_t{0}, std::size_t{1}}) {
      Point point = before;
      enter(space, {1, option}, point, rng);
      CHECK(point.values[1] == static_cast<double>(option));
      CHECK(point.values[0] == before.values[0]);
      CHECK(point.values[5] == before.values[5]);
      for (std::size_t k = 0; k < space.params.size(); ++k) {
        CHECK(point.active(k) == is_active(space, point, k));
      }
      if (before.values[1] == point.values[1]) CHECK(point == before);
      deep += point.active(4) ? 1 : 0;
    }
  }
  CHECK(deep > 0);
}

}  // namespace attune::branch_test
