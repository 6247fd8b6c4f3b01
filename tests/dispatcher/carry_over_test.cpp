// A search space that gains a parameter while the experiment runs, and results without it.
#include "dispatcher/carry_over.h"

#include <catch2/catch.hpp>
#include <set>

#include "space/constraint.h"
#include "space/parse.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/stepped.h"
#include "tests/support/transcript_text.h"
#include "tests/support/trial_words.h"
#include "tuners/registry.h"

namespace attune::carry_over_test {

using Lines = std::vector<std::string>;

const std::string kBefore = R"({"x":{"_type":"uniform","_value":[0,1]}})";
const std::string kAfter = R"({"x":{"_type":"uniform","_value":[0,1]},
                               "n":{"_type":"randint","_value":[0,10]}})";

Space space_of(const std::string& text) { return parse_space(parse_json(text).value()).value(); }

TEST_CASE("a new parameter: results and running trials carry over, imports count") {
  auto owned = std::make_unique<ScriptedTuner>();
  ScriptedTuner* tuner = owned.get();
  Stepped daemon(std::move(owned), false, nullptr);
  daemon.send("IN", kBefore);
  for (const double x : {0.1, 0.2, 0.3, 0.4}) {
    tuner->next = x;
    daemon.send("GE", "1");
  }
  for (int id = 0; id < 3; ++id) daemon.send("ME", final_metric(id, std::to_string(id)));
  tuner->told.clear();
  daemon.send("SS", kAfter);
  CHECK(tuner->told == Lines{"0 completed 0", "1 completed 1", "2 completed 2"});
  CHECK(tuner->adopted == std::vector<TrialId>{3});
  daemon.send("ME", final_metric(3, "3"));
  CHECK(tuner->told.back() == "3 completed 3");
  daemon.send("FD", R"([{"parameter":{"x":0.9},"value":9},{"parameter":{"n":1},"value":8},
                        {"parameter":{"x":7},"value":7},{"parameter":{"y":1},"value":6},
                        {"parameter":{},"value":5},{"parameter":{"x":0.9},"value":9}])");
  CHECK(tuner->told.size() == 6);
  CHECK(tuner->told[4] == "-1 imported 9");  // once: an equal record is completed alike
  CHECK(tuner->told[5] == "-1 imported 8");
}

TEST_CASE("a new parameter: what is missing is spread over what is declared, equal for equals") {
  const Space space = space_of(kAfter);
  const auto tuner = std::make_unique<ScriptedTuner>();
  std::set<double> values;
  for (int i = 0; i < 100; ++i) {
    const json parameters = {{"x", i / 100.0}};
    const Point point = carried_point(*tuner, space, parameters, Missing::drawn).value();
    CHECK(point.values[0] == i / 100.0);
    values.insert(point.values[1]);
    CHECK(carried_point(*tuner, space, parameters, Missing::drawn).value() == point);
  }
  CHECK(values.size() == 10);
}

TEST_CASE("a new parameter: constraints hold for what is filled in") {
  Space space = space_of(kAfter);
  REQUIRE(set_constraints(space, {"n < 5"}));
  const auto tuner = std::make_unique<ScriptedTuner>();
  for (int i = 0; i < 20; ++i) {
    const auto point = carried_point(*tuner, space, {{"x", i / 20.0}}, Missing::drawn);
    if (point) CHECK(point->values[1] < 5);
  }
}

TEST_CASE("a new parameter: a result has a gap for it where the tuner takes that") {
  const Space space = space_of(
      R"({"x":{"_type":"uniform","_value":[0,1]},
          "c":{"_type":"choice","_value":[{"_name":"a","y":{"_type":"randint","_value":[0,9]}},
                                          {"_name":"b","y":{"_type":"randint","_value":[0,9]}}]}})");
  const auto made = [](const char* name) {
    return make_tuner(builtin_tuners(), name, json::object(), {}, 1).value().tuner;
  };
  for (const char* name : {"TPE", "GP", "SMAC"}) {
    const Point point = carried_point(*made(name), space, {{"x", 0.5}}, Missing::open).value();
    CHECK(point == Point{{0.5, Point::kInactive, Point::kInactive, Point::kInactive}});
    CHECK(to_json(space, point) == json{{"x", 0.5}});
    CHECK_FALSE(carried_point(*made(name), space, {{"x", 2}}, Missing::open).has_value());
  }
  CHECK(carried_point(*made("Evolution"), space, {{"x", 0.5}}, Missing::open)->active(1));
}

TEST_CASE("a new parameter: no point of a finite space counts as tried that was not") {
  const auto tuner = GENERATE("GridSearch", "Random", "TPE", "GP", "SMAC");
  CAPTURE(tuner);
  const auto daemon = Stepped::make(tuner, {{"seed", 1}});
  daemon->send("IN", R"({"a":{"_type":"choice","_value":[1,2,3]}})");
  daemon->send("GE", "3");
  for (int id = 0; id < 3; ++id) daemon->send("ME", final_metric(id, "1"));
  daemon->take();
  daemon->send("SS", R"({"a":{"_type":"choice","_value":[1,2,3]},
                         "b":{"_type":"choice","_value":[1,2]}})");
  daemon->send("GE", "7");
  const auto frames = daemon->take();
  std::set<std::string> points;
  for (const Frame& frame : frames) {
    if (frame.code == "TR") points.insert(dump_json(parse_json(frame.payload)->at("parameters")));
  }
  CHECK(points.size() == 6);
  CHECK(frames.back().code == "NO");
}

TEST_CASE("a new parameter: an equal record is known, and so is that of a trial which ran on") {
  const auto daemon = Stepped::make("TPE", {{"seed", 1}});
  daemon->send("IN", kBefore);
  daemon->send("GE", "2");
  daemon->send("ME", final_metric(0, "1"));
  const auto frames = daemon->take();
  const auto record = [&](int id) {
    const json trial = parse_json(frames[static_cast<std::size_t>(1 + id)].payload).value();
    return json{{"parameter", trial.at("parameters")}, {"value", id + 1}};
  };
  daemon->send("SS", kAfter);
  daemon->send("ME", final_metric(1, "2"));
  const json before = daemon->save();
  daemon->send("FD", dump_json(json::array({record(0), record(1)})));
  CHECK(daemon->save()["tuner"]["session"]["history"] == before["tuner"]["session"]["history"]);
}

TEST_CASE("a new parameter: a model of a finite space goes on with what is known") {
  const auto daemon = Stepped::make("TPE", {{"seed", 1}, {"optimize_mode", "minimize"}});
  daemon->send("IN", R"({"a":{"_type":"randint","_value":[0,40]}})");
  daemon->send("GE", "30");
  for (const Frame& frame : daemon->take()) {
    if (frame.code != "TR") continue;
    const json trial = parse_json(frame.payload).value();
    const int a = trial.at("parameters").at("a");
    daemon->send("ME", final_metric(trial.at("parameter_id"), std::to_string(std::abs(a - 30))));
  }
  daemon->send("SS", R"({"a":{"_type":"randint","_value":[0,40]},
                         "b":{"_type":"randint","_value":[0,40]}})");
  daemon->send("GE", "10");
  double distance = 0;
  for (const Frame& frame : daemon->take()) {
    if (frame.code != "TR") continue;
    distance += std::abs(parse_json(frame.payload)->at("parameters").at("a").get<double>() - 30);
  }
  CHECK(distance / 10 < 8);  // 12.6 on average at random
}

TEST_CASE("a new parameter: models go on with what they know of the others") {
  const std::string tuner = GENERATE("TPE", "GP", "auto", "SMAC", "DNGO", "TuRBO");
  CAPTURE(tuner);
  const auto daemon = Stepped::make(tuner, {{"seed", 1}, {"optimize_mode", "minimize"}});
  daemon->send("IN", kBefore);
  int id = 0;
  const auto run = [&](int count) {
    double distance = 0;
    for (int i = 0; i < count; ++i, ++id) {
      daemon->send("GE", "1");
      const json trial = parse_json(daemon->take().back().payload).value();
      const double x = trial.at("parameters").at("x");
      distance += std::abs(x - 0.8) / count;
      daemon->send("ME", final_metric(id, fmt::format("{}", (x - 0.8) * (x - 0.8))));
      daemon->send("EN", trial_end(id));
    }
    return distance;
  };
  run(40);
  daemon->send("SS", kAfter);
  // Draws at random are 0.34 away on average.
  CHECK(run(10) < 0.2);
}

}  // namespace attune::carry_over_test
