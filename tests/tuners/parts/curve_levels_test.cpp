#include "tuners/parts/curve_levels.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/saved_numbers.h"

namespace attune::curve_levels_test {

using Levels = std::vector<double>;
constexpr std::nullopt_t kSame = std::nullopt;

TEST_CASE("curve levels: a given end does not move") {
  CurveLevels levels(50, 3);
  CHECK(levels.all() == Levels{1, 3, 9, 27, 50});
  CHECK(levels.end() == 50);
  CHECK_FALSE(levels.learns());
  CHECK(levels.reach(80) == kSame);
  CHECK(levels.end_at(20) == kSame);
  CHECK(levels.all() == Levels{1, 3, 9, 27, 50});
  CHECK(CurveLevels(1, 3).all() == Levels{1});
  CHECK(CurveLevels(5, 1.5).all() == Levels{1, 2, 3, 5});
}

TEST_CASE("curve levels: which one a resource has reached and which comes next") {
  const CurveLevels levels(27, 3);
  CHECK(levels.within(0.5) == 0);
  CHECK(levels.within(1) == 1);
  CHECK(levels.within(8) == 2);
  CHECK(levels.within(30) == 4);
  CHECK(levels.after(0) == 0);
  CHECK(levels.after(3) == 2);
  CHECK(levels.after(27) == 3);
}

TEST_CASE("curve levels: while nobody knows the end it lies beyond all that was reached") {
  CurveLevels levels(3);
  CHECK(levels.learns());
  CHECK(levels.end() == HUGE_VAL);
  CHECK(levels.all() == Levels{1});
  CHECK(levels.reach(1) == 0);
  CHECK(levels.all() == Levels{1, 3});
  CHECK(levels.reach(2) == kSame);
  CHECK(levels.reach(3) == 1);
  CHECK(levels.all() == Levels{1, 3, 9});
  CHECK(levels.reach(2) == kSame);
  CHECK(levels.reach(100) == 2);
  CHECK(levels.all() == Levels{1, 3, 9, 27, 81, 243});
  CHECK(levels.reach(2 * CurveLevels::kMost) == kSame);
}

TEST_CASE("curve levels: the first trial that ends by itself shows the end") {
  CurveLevels levels(3);
  levels.reach(20);
  CHECK(levels.end_at(20) == 3);
  CHECK(levels.end() == 20);
  CHECK(levels.all() == Levels{1, 3, 9, 20});
  CHECK(levels.reach(20) == kSame);
  CHECK(levels.end_at(5) == kSame);
}

TEST_CASE("curve levels: an end that is a level replaces it") {
  CurveLevels levels(3);
  levels.reach(9);
  CHECK(levels.end_at(9) == 2);
  CHECK(levels.all() == Levels{1, 3, 9});
}

TEST_CASE("curve levels: a trial that runs on shows that the end is further away") {
  CurveLevels levels(3);
  levels.reach(5);
  levels.end_at(5);
  CHECK(levels.all() == Levels{1, 3, 5});
  CHECK(levels.reach(6) == 2);
  CHECK(levels.all() == Levels{1, 3, 9});
  CHECK(levels.reach(9) == 2);
  CHECK(levels.end() == HUGE_VAL);
  CHECK(levels.end_at(7) == kSame);
  CHECK(levels.all() == Levels{1, 3, 9, 27});
  CHECK(levels.end_at(12) == 3);
  CHECK(levels.all() == Levels{1, 3, 9, 12});
}

TEST_CASE("curve levels: saved and loaded they are the same") {
  CurveLevels levels(3);
  levels.reach(40);
  levels.end_at(15);
  CurveLevels other(3), fresh(3);
  REQUIRE(other.load(fresh.save()));
  CHECK(other.all() == fresh.all());
  REQUIRE(other.load(parse_json(dump_json(levels.save())).value()));
  CHECK(other.all() == levels.all());
  CHECK(other.end_at(50) == levels.end_at(50));
  CHECK(other.all() == levels.all());

  const json before = other.save();
  for (const json& damaged :
       {json{{"most_reached", -1}, {"ended_at", 0}}, json{{"most_reached", 1}},
        json{{"most_reached", 1}, {"ended_at", 1e12}}, json{{"most_reached", "x"}, {"ended_at", 1}},
        json::array()}) {
    CHECK_FALSE(other.load(damaged));
    CHECK(other.save() == before);
  }
  CHECK_FALSE(CurveLevels(9, 3).load(before));
}

}  // namespace attune::curve_levels_test
