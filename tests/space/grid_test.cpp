// Grid: NNI's order bit by bit, every point once, resumable anywhere.
#include "space/grid.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "space/dedup.h"
#include "space/parse.h"
#include "tests/space/space_helpers.h"

namespace attune::grid_test {

json read_json(const std::string& name) {
  std::ifstream file(std::string(ATTUNE_TEST_DATA) + "/grid/" + name + ".json");
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  return parse_json(text.str()).value();
}

std::vector<std::string> first_points(const std::string& space_text, std::size_t n) {
  const Space space = space_of(space_text);
  Grid grid(space);
  std::vector<std::string> points;
  while (points.size() < n) {
    const auto point = grid.next();
    if (!point) {
      points.emplace_back("end");
      break;
    }
    points.push_back(dump_json(to_json(space, *point)));
  }
  return points;
}

TEST_CASE("the order and every digit are those of NNI's recordings") {
  const std::string name = GENERATE("small_exhaust", "continuous", "mixed10_first30");
  CAPTURE(name);
  const json recording = read_json(name);
  const Space space = parse_space(recording["search_space"]).value();
  Grid grid(space);
  for (const json& expected : recording["parameters"]) {
    const auto point = grid.next();
    REQUIRE(point);
    // As text: it tells 5 from 5.0, and doubles round-trip.
    CHECK(dump_json(to_json(space, *point)) == dump_json(expected));
  }
  if (recording["exhausted"] == true) {
    CHECK_FALSE(grid.next());
    CHECK_FALSE(grid.next());
  }
}

TEST_CASE("later epochs bring new medians, in the order of the intervals") {
  CHECK(first_points(R"({"x":{"_type":"uniform","_value":[0,8]}})", 7) ==
        std::vector<std::string>{R"({"x":4.0})", R"({"x":2.0})", R"({"x":6.0})", R"({"x":1.0})",
                                 R"({"x":3.0})", R"({"x":5.0})", R"({"x":7.0})"});
}

TEST_CASE("inactive parameters are not walked through") {
  const std::string text = R"({"n":{"_type":"choice","_value":[
      {"_name":"a","i":{"_type":"randint","_value":[0,2]}},
      {"_name":"b"},
      {"_name":"c","q":{"_type":"quniform","_value":[0,2,1]}}]},
    "t":{"_type":"choice","_value":["x","y"]}})";
  CHECK(first_points(text, 20) ==
        std::vector<std::string>{
            R"({"n":{"_name":"a","i":0},"t":"x"})", R"({"n":{"_name":"a","i":0},"t":"y"})",
            R"({"n":{"_name":"a","i":1},"t":"x"})", R"({"n":{"_name":"a","i":1},"t":"y"})",
            R"({"n":{"_name":"b"},"t":"x"})", R"({"n":{"_name":"b"},"t":"y"})",
            R"({"n":{"_name":"c","q":1.0},"t":"x"})", R"({"n":{"_name":"c","q":1.0},"t":"y"})",
            R"({"n":{"_name":"c","q":0.0},"t":"x"})", R"({"n":{"_name":"c","q":0.0},"t":"y"})",
            R"({"n":{"_name":"c","q":2.0},"t":"x"})", R"({"n":{"_name":"c","q":2.0},"t":"y"})",
            "end"});
}

TEST_CASE("subsets come in the order of their indices") {
  CHECK(first_points(
            R"({"s":{"_type":"input_choice","_value":{"candidates":["a","b","c"],"n_chosen":2}}})",
            5) == std::vector<std::string>{R"({"s":{"_value":["a","b"],"_idx":[0,1]}})",
                                           R"({"s":{"_value":["a","c"],"_idx":[0,2]}})",
                                           R"({"s":{"_value":["b","c"],"_idx":[1,2]}})", "end"});
}

TEST_CASE("domains with few values are visited whole") {
  struct Row {
    std::string domain;
    std::size_t count;
  };
  const auto row = GENERATE(values<Row>({
      {R"({"_type":"quniform","_value":[0,1,0.6]})", 3},
      {R"({"_type":"quniform","_value":[2,10,5]})", 3},
      {R"({"_type":"quniform","_value":[-5.5,-0.5,6]})", 2},  // round(-0.9) and round(-0.08)
      {R"({"_type":"quniform","_value":[2,3,10]})", 1},
      {R"({"_type":"quniform","_value":[0,3.5,1]})", 5},  // 3.5: 3.5 rounds to 4, clipped
      {R"({"_type":"quniform","_value":[0.5,3,1]})", 4},  // 0.5: 0.5 rounds to 0, clipped
      {R"({"_type":"quniform","_value":[16,512,16]})", 32},
      {R"({"_type":"quniform","_value":[0,1000,1]})", 1001},
      {R"({"_type":"quniform","_value":[5,5,3]})", 1},
      {R"({"_type":"qloguniform","_value":[1,1000,1]})", 1000},
      {R"({"_type":"qloguniform","_value":[0.001,100,10]})", 11},
      {R"({"_type":"qloguniform","_value":[2,2,1]})", 1},
      {R"({"_type":"uniform","_value":[99.9,99.9]})", 1},
      {R"({"_type":"loguniform","_value":[1,1]})", 1},
      {R"({"_type":"normal","_value":[3,0]})", 1},
      {R"({"_type":"qlognormal","_value":[0,0,0.3]})", 1},
      {R"({"_type":"randint","_value":[-3,4]})", 7},
      {R"({"_type":"choice","_value":[0.3,"cat",1,null]})", 4},
      {R"({"_type":"choice","_value":[1,1,2,1.0,true,{"a":1,"b":2},{"b":2,"a":1}]})", 5},
      {R"({"_type":"layer_choice","_value":["conv","conv"]})", 2},
      {R"({"_type":"input_choice","_value":{"candidates":[1,1,2,3,4],"n_chosen":3}})", 10},
  }));
  CAPTURE(row.domain);
  const Space space = space_of("{\"x\":" + row.domain + "}");
  CHECK(point_count(space) == row.count);
  SeenPoints seen(space);
  Grid grid(space);
  std::size_t visited = 0;
  while (const auto point = grid.next()) {
    REQUIRE(seen.insert(*point));
    CHECK(in_space(space, *point));
    REQUIRE(++visited <= row.count);
  }
  CHECK(visited == row.count);
}

TEST_CASE("no grid value is infinite, and normals end with the doubles") {
  const std::string type = GENERATE("qnormal", "qlognormal");
  const Space space = space_of("{\"x\":{\"_type\":\"" + type + "\",\"_value\":[0,1,2]}}");
  SeenPoints seen(space);
  Grid grid(space);
  int visited = 0;
  while (const auto point = grid.next()) {
    REQUIRE(std::isfinite(point->values[0]));
    REQUIRE(seen.insert(*point));
    REQUIRE(++visited < 10'000);
  }
  CHECK(visited > 20 - 16 * (type == "qnormal"));
}

TEST_CASE("old combinations are jumped over") {
  // 8^9 = 134 million combinations of the choices. In epoch 1 none of them is new by itself:
  // walking from one new point to the next would take minutes, and this test fails by its time
  // limit.
  std::string choices;
  for (int i = 0; i < 9; ++i) {
    choices += ",\"c" + std::to_string(i) + R"(":{"_type":"choice","_value":[0,1,2,3,4,5,6,7]})";
  }
  const std::string real = R"("x":{"_type":"uniform","_value":[0,1]})";

  Grid last(space_of("{" + choices.substr(1) + "," + real + "}"));
  REQUIRE(last.load({{"epoch", 1}, {"vector", nullptr}, {"done", false}}));
  CHECK(last.next()->values == std::vector<double>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0.25});
  CHECK(last.next()->values == std::vector<double>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0.75});
  CHECK(last.next()->values == std::vector<double>{0, 0, 0, 0, 0, 0, 0, 0, 1, 0.25});

  // All combinations with the old median come first here, and are passed in one step.
  Grid first(space_of("{" + real + choices + "}"));
  REQUIRE(first.load({{"epoch", 1}, {"vector", nullptr}, {"done", false}}));
  CHECK(first.next()->values == std::vector<double>{0.25, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(first.next()->values == std::vector<double>{0.25, 0, 0, 0, 0, 0, 0, 0, 0, 1});

  // The only growing parameter is inside of the last option of the first parameter.
  Grid nested(space_of(R"({"n":{"_type":"choice","_value":[{"_name":"a"},{"_name":"b",)" + real +
                       R"(},{"_name":"c"}]})" + choices + "}"));
  REQUIRE(nested.load({{"epoch", 1}, {"vector", nullptr}, {"done", false}}));
  const Point point = nested.next().value();
  CHECK(point.values == std::vector<double>{1, 0.25, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("a damaged position is refused and changes nothing") {
  const Space space = space_of(R"({"n":{"_type":"choice","_value":[
      {"_name":"a","x":{"_type":"uniform","_value":[0,1]}},{"_name":"b"}]}})");
  const std::string state = GENERATE(
      "null", "{}", R"({"epoch":-1,"vector":null,"done":false})",
      R"({"epoch":0,"vector":[0],"done":false})", R"({"epoch":0,"vector":[2,0],"done":false})",
      R"({"epoch":0,"vector":[0,1],"done":false})", R"({"epoch":0,"vector":[1,1],"done":false})",
      R"({"epoch":1,"vector":[1,1],"done":false})", R"({"epoch":0,"vector":[0.5,0],"done":false})",
      R"({"epoch":0,"vector":null,"done":1})", R"({"epoch":1000000,"vector":null,"done":false})");
  CAPTURE(state);
  Grid grid(space);
  grid.next();
  const json before = grid.save();
  CHECK_FALSE(grid.load(parse_json(state).value()));
  CHECK(grid.save() == before);
  CHECK(dump_json(to_json(space, *grid.next())) == R"({"n":{"_name":"b"}})");
}

TEST_CASE("an empty space has one point") {
  Grid grid(Space{});
  CHECK(grid.next()->values.empty());
  CHECK_FALSE(grid.next());
}

}  // namespace attune::grid_test
