// A space that only the algorithm reads.
#include <catch2/catch.hpp>

#include "space/constraint.h"
#include "space/parse.h"
#include "space/saved_point.h"
#include "space/space.h"

namespace attune {
namespace {

const json kDeclared = {{"anything", {1, "two"}}};
const json kParameters = {{"x", 0.5}, {"list", {1, "two", nullptr}}};

TEST_CASE("unread space: a point is any JSON but null") {
  const Space space = unread_space(kDeclared);
  CHECK(space.unread == kDeclared);
  CHECK_FALSE(point_count(space));
  for (const json& parameters : {kParameters, json("text"), json(3), json::array()}) {
    const auto point = point_from_json(space, parameters);
    REQUIRE(point);
    CHECK(to_json(space, *point) == parameters);
    CHECK(space.feasible(*point));
    CHECK(check_point(space, *point));
    CHECK(*point != Point());
  }
  CHECK_FALSE(point_from_json(space, nullptr));
}

TEST_CASE("unread space: points are saved and loaded") {
  const Space space = unread_space(kDeclared);
  const Point a = point_from_json(space, kParameters).value();
  const Point b = point_from_json(space, "text").value();
  CHECK(load_point(space, save_point(a)).value() == a);
  const json state = save_points(std::vector{&a, &b});
  CHECK(load_points(space, state, 2).value() == std::vector{a, b});
  CHECK(load_points(space, save_points({}), 0).value().empty());
  CHECK_FALSE(load_points(space, state, 3));
  CHECK_FALSE(load_points(space, "text", 1));
  CHECK_FALSE(load_point(space, nullptr));
}

TEST_CASE("unread space: points of the other kind are refused") {
  const Space space = unread_space(kDeclared);
  const Space read = parse_space(json::object()).value();
  const Point point = point_from_json(space, kParameters).value();
  CHECK_FALSE(check_point(read, point));
  CHECK_FALSE(check_point(space, Point()));
}

TEST_CASE("unread space: no constraints") {
  Space space = unread_space(kDeclared);
  CHECK(set_constraints(space, {}));
  CHECK_FALSE(set_constraints(space, {"x < 1"}));
}

}  // namespace
}  // namespace attune
