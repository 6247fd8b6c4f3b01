// SeenPoints and Deduplicator.
#include "space/dedup.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "space/sample.h"
#include "tests/space/space_helpers.h"

namespace attune::dedup_test {

// As in NNI's own test: 2 * 3 * 1 points.
const char* const kSix = R"({"x":{"_type":"choice","_value":["a","b"]},
    "y":{"_type":"quniform","_value":[0,1,0.6]},"z":{"_type":"normal","_value":[1,0]}})";

const char* const kNested = R"({"n":{"_type":"choice","_value":[
    {"_name":"a","k":{"_type":"choice","_value":[1,1,2]}},
    {"_name":"b","m":{"_type":"choice","_value":[{"_name":"c","q":{"_type":"quniform","_value":[1,4,1]}},
                                               {"_name":"d"}]}}]}})";

TEST_CASE("a finite space is exhausted after each point once") {
  const auto [text, count] =
      GENERATE(std::pair(kSix, 6), std::pair(kNested, 7), std::pair("{}", 1));
  CAPTURE(text);
  const Space space = space_of(text);
  Deduplicator dedup(space);
  SeenPoints seen(space);
  Rng rng(11);
  for (int i = 0; i < count; ++i) {
    const auto point = dedup(sample(space, rng));
    REQUIRE(point);
    CHECK(in_space(space, *point));
    CHECK(seen.insert(*point));
  }
  for (int i = 0; i < 5; ++i) CHECK_FALSE(dedup(sample(space, rng)));
}

TEST_CASE("a new point passes unchanged, a repeated one becomes the next of the grid") {
  const Space space = space_of(kSix);
  Deduplicator dedup(space);
  CHECK(dedup(Point{{0, 0.6, 1}}) == Point{{0, 0.6, 1}});  // the first of the grid
  CHECK(dedup(Point{{1, 1.0, 1}}) == Point{{1, 1.0, 1}});
  CHECK(dedup(Point{{1, 1.0, 1}}) == Point{{1, 0.6, 1}});
  CHECK(dedup(Point{{1, 1.0, 1}}) == Point{{0, 0.0, 1}});
}

TEST_CASE("a continuous top-level parameter switches it off") {
  const Space space = space_of(R"({"x":{"_type":"choice","_value":["a"]},
                                   "y":{"_type":"uniform","_value":[0,1]}})");
  Deduplicator dedup(space);
  for (int i = 0; i < 3; ++i) CHECK(dedup(Point{{0, 0.5}}) == Point{{0, 0.5}});
}

TEST_CASE("a continuous parameter inside of an option does not") {
  const Space space = space_of(R"({"n":{"_type":"choice","_value":[
      {"_name":"a"},{"_name":"b","x":{"_type":"uniform","_value":[0,1]}}]}})");
  Deduplicator dedup(space);
  const Point a{{0, Point::kInactive}};
  CHECK(dedup(a) == a);
  for (const double x : {0.5, 0.25, 0.75}) CHECK(dedup(a) == Point{{1, x}});
}

TEST_CASE("discrete without bounds: never twice, never exhausted in practice") {
  const std::string type = GENERATE("qnormal", "qlognormal");
  const Space space = space_of("{\"x\":{\"_type\":\"" + type + "\",\"_value\":[0,3,1]}}");
  Deduplicator dedup(space);
  SeenPoints seen(space);
  Rng rng(2);
  for (int i = 0; i < 20; ++i) {
    const auto point = dedup(sample(space, rng));
    REQUIRE(point);
    CHECK(seen.insert(*point));
  }
}

TEST_CASE("an end is for ever, though a tail has points that the grid does not reach") {
  const Space space = space_of(R"({"x":{"_type":"qlognormal","_value":[-1,1,1]}})");
  Deduplicator dedup(space);
  const Point zero{{0}}, beyond{{1e9}};
  for (int i = 0; i < 100000 && dedup(zero); ++i) continue;
  REQUIRE_FALSE(dedup(zero));
  CHECK_FALSE(dedup(beyond));
  Deduplicator loaded(space);
  REQUIRE(loaded.load(parse_json(dump_json(dedup.save())).value()));
  CHECK_FALSE(loaded(beyond));
}

TEST_CASE("imported points are not proposed") {
  const Space space = space_of(kSix);
  Deduplicator dedup(space);
  dedup.add(Point{{0, 0.6, 1}});
  dedup.add(Point{{0, 0.6, 1}});
  int proposed = 0;
  Rng rng(1);
  while (const auto point = dedup(sample(space, rng))) {
    CHECK_FALSE(*point == Point{{0, 0.6, 1}});
    REQUIRE(++proposed <= 5);
  }
  CHECK(proposed == 5);
}

TEST_CASE("equal candidates are one point") {
  const Space space = space_of(R"({"x":{"_type":"choice","_value":[7,8,7]}})");
  SeenPoints seen(space);
  CHECK(seen.insert(Point{{2}}));
  CHECK(seen.contains(Point{{0}}));
  CHECK_FALSE(seen.insert(Point{{0}}));
  CHECK(seen.insert(Point{{1}}));
}

TEST_CASE("seen points load what they saved") {
  const Space space = space_of(kNested);
  SeenPoints seen(space);
  Rng rng(6);
  for (int i = 0; i < 4; ++i) seen.insert(sample(space, rng));
  SeenPoints copy(space);
  REQUIRE(copy.load(parse_json(dump_json(seen.save())).value()));
  CHECK(copy.save() == seen.save());
  for (int i = 0; i < 50; ++i) {
    const Point point = sample(space, rng);
    CHECK(copy.contains(point) == seen.contains(point));
  }
}

TEST_CASE("told to remember always it knows repeats beside a continuous parameter") {
  const Space space = space_of(R"({"x":{"_type":"uniform","_value":[0,1]},
                                   "n":{"_type":"randint","_value":[0,3]}})");
  const Point point{{0.25, 1}};
  Deduplicator forgetful(space), mindful(space, Deduplicator::Remember::always);
  for (Deduplicator* each : {&forgetful, &mindful}) {
    CHECK((*each)(point) == point);
    CHECK((*each)(point) == point);  // nothing takes its place
  }
  CHECK_FALSE(forgetful.repeats(point));
  CHECK(mindful.repeats(point));
  mindful.add({{0.5, 2}});
  CHECK(mindful.repeats({{0.5, 2}}));

  Deduplicator loaded(space, Deduplicator::Remember::always);
  REQUIRE(loaded.load(mindful.save()));
  CHECK(loaded.repeats(point));
}

TEST_CASE("a damaged state is refused and changes nothing") {
  const Space space = space_of(kSix);
  Deduplicator dedup(space);
  dedup(Point{{0, 0.6, 1}});
  const json before = dedup.save();
  json state = before;
  const int kind = GENERATE(range(0, 6));
  if (kind == 0) state = json::array();
  if (kind == 1) state.erase("seen");
  if (kind == 2) state["seen"] = 3;
  if (kind == 3) state["seen"].push_back({1, 2});
  if (kind == 4) state["seen"][0][0] = "x";
  if (kind == 5) {
    state["seen"] = json::array();
    state["grid"]["vector"] = {9, 9, 9};
  }
  CAPTURE(kind);
  CHECK_FALSE(dedup.load(state));
  CHECK(dedup.save() == before);
}

}  // namespace attune::dedup_test
