// What earlier experiments found, from the manager to the tuner.
#include <catch2/catch.hpp>
#include <set>

#include "dispatcher/earlier.h"
#include "protocol/earlier_limits.h"
#include "space/parse.h"
#include "tests/support/exact_state.h"
#include "tests/support/transcript_text.h"

namespace attune::dispatcher_earlier_test {

using namespace exact_state;

json parsed(const std::string& text) { return parse_json(text).value(); }

std::string error_of(const std::string& text) {
  const auto read = read_earlier(parsed(text));
  return read ? "" : read.error().message;
}

TEST_CASE("earlier: what cannot be read is refused with its place") {
  CHECK(read_earlier(nullptr)->empty());
  CHECK(error_of("{}") == "earlier: a list expected");
  CHECK(error_of("[3]") == "earlier[0]: an object expected");
  CHECK(error_of(R"([{"trials": []}])") == "earlier[0].name: a string expected");
  CHECK(error_of(R"([{"name": "a"}])") == "earlier[0].trials: a list expected");
  CHECK(error_of(R"([{"name": "a", "trials": [1]}])") ==
        "earlier[0].trials[0]: an object expected");
  CHECK(error_of(R"([{"name": "a", "trials": [{"parameters": 1, "loss": 1}]}])") ==
        "earlier[0].trials[0].parameters: an object expected");
  CHECK(error_of(R"([{"name": "a", "trials": [{"parameters": {}, "loss": null}]}])") ==
        "earlier[0].trials[0].loss: a finite number expected");
  json many = json::array();
  for (int i = 0; i < 21; ++i) many.push_back({{"name", "a"}, {"trials", json::array()}});
  CHECK(read_earlier(many).error().message == "earlier: 21 experiments; at most 20 are possible");
  const json trial = {{"parameters", json::object()}, {"loss", 1}};
  const json long_one = {{{"name", "a"}, {"trials", json::array_t(201, trial)}}};
  CHECK(read_earlier(long_one).error().message ==
        "earlier[0].trials: 201 trials; at most 200 are possible");
}

TEST_CASE("earlier: what a manager may send of wide spaces can be read") {
  CHECK(most_earlier_trials(1, 5) == kMostEarlierTrials);
  CHECK(most_earlier_trials(20, 20'000) == 1);
  for (const auto& [experiments, parameters] :
       {std::pair<std::size_t, std::size_t>{20, 150}, {1, 700}, {2, 3000}}) {
    json configuration = json::object();
    for (std::size_t i = 0; i < parameters; ++i) configuration["p" + std::to_string(i)] = i;
    const json trial = {{"parameters", std::move(configuration)}, {"loss", 1}};
    const json::array_t trials(most_earlier_trials(experiments, parameters), trial);
    const json all(json::array_t(experiments, {{"name", "a"}, {"trials", trials}}));
    CHECK(parse_json(dump_json(all)).has_value());
  }
}

const std::string kSpace = R"({"x": {"_type": "uniform", "_value": [0, 1]},
    "n": {"_type": "randint", "_value": [1, 9]}, "c": {"_type": "choice", "_value": ["a", "b"]}})";

TEST_CASE("earlier: results become points of the present space") {
  const Space space = parse_space(parsed(kSpace)).value();
  const auto earlier = read_earlier(parsed(R"([
      {"name": "same", "trials": [
        {"parameters": {"x": 0.5, "n": 3.0, "c": "b"}, "loss": 2},
        {"parameters": {"x": 1.5, "n": 3, "c": "b"}, "loss": 1},
        {"parameters": {"x": 0.5, "n": 3, "c": "z"}, "loss": 1}]},
      {"name": "other", "trials": [{"parameters": {"x": 0.25, "depth": 7}, "loss": 3}]},
      {"name": "foreign", "trials": [{"parameters": {"depth": 7}, "loss": 3}]},
      {"name": "empty", "trials": []}])"))
                           .value();
  const auto tasks = tasks_in(space, earlier, Log());
  REQUIRE(tasks.size() == 2);
  CHECK(tasks[0].name == "same");
  REQUIRE(tasks[0].points.size() == 1);  // what lies outside of the space is left out
  CHECK(tasks[0].points[0].values == std::vector{0.5, 3.0, 1.0});
  CHECK(tasks[0].losses == std::vector{2.0});
  REQUIRE(tasks[1].points.size() == 1);
  CHECK(tasks[1].points[0].values[0] == 0.25);
  CHECK_FALSE(tasks[1].points[0].active(1));
  CHECK_FALSE(tasks[1].points[0].active(2));
}

std::string initialize() {
  json trials = json::array();
  for (int i = 0; i < 20; ++i) {
    const double x = 0.05 * i;
    trials.push_back({{"parameters", {{"x", x}, {"n", 1 + i % 8}, {"c", i % 2 ? "a" : "b"}}},
                      {"loss", (x - 0.3) * (x - 0.3)}});
  }
  return dump_json(
      {{"search_space", parsed(kSpace)}, {"earlier", {{{"name", "before"}, {"trials", trials}}}}});
}

TEST_CASE("earlier: saved and loaded anywhere, the first trials are what was best") {
  const std::string tuner = GENERATE("GP", "auto");
  CAPTURE(tuner);
  const Start start = [&] {
    return Stepped::make(tuner, {{"seed", 3}, {"optimize_mode", "minimize"}});
  };
  Script script = {{"GE", "2"}, {"IN", initialize()}, {"GE", "2"}};
  for (int id = 0; id < 14; ++id) {
    const std::string job = "J" + std::to_string(id);
    script.push_back(metric("FINAL", id, job, std::to_string(id % 5)));
    script.push_back(end(job, id));
    script.push_back({"GE", "1"});
    if (id == 2) {
      script.push_back({"SS", R"({"x": {"_type": "uniform", "_value": [0, 2]},
          "z": {"_type": "uniform", "_value": [0, 1]}})"});
    }
  }
  const std::string answers = check_everywhere(start, script);
  CHECK_THAT(answers, Catch::Contains(R"("x":0.3)"));
}

TEST_CASE("earlier: what was best there is not tried twice") {
  json initialize_with_default = parsed(initialize());
  json& space = initialize_with_default["search_space"];
  space["x"]["_default"] = 0.05 * 6;
  space["n"]["_default"] = 7;
  space["c"]["_default"] = "b";
  const auto daemon = Stepped::make("GP", {{"seed", 3}, {"optimize_mode", "minimize"}});
  daemon->send("IN", dump_json(initialize_with_default));
  daemon->send("GE", "3");
  std::set<std::string> different;
  int proposals = 0;
  for (const Frame& frame : daemon->take()) {
    if (frame.code != "TR") continue;
    ++proposals;
    different.insert(dump_json(parsed(frame.payload)["parameters"]));
  }
  CHECK(proposals == 3);
  CHECK(different.size() == 3);
}

TEST_CASE("earlier: saved and loaded anywhere, also when auto begins to pause trials") {
  DispatcherOptions options;
  options.wants_reports = true;
  options.capabilities = {.sync = true, .pause = true, .checkpoint = true, .reason = true};
  const Start start = [&] {
    Context context;
    context.pauses = true;
    auto made = make_tuner(builtin_tuners(), "auto", {{"optimize_mode", "minimize"}}, context, 3);
    REQUIRE(made.has_value());
    return std::make_unique<Stepped>(std::move(made->tuner), false, nullptr, options);
  };
  const std::string other = R"({"x": {"_type": "uniform", "_value": [0, 2]}})";
  const std::string report = R"({"default": 0.3, "training_iteration": 1})";
  const Script script = {{"IN", initialize()},  {"GE", "1"},   metric("PERIODICAL", 0, "A", report),
                         checkpoint("A", "c1"), {"SS", other}, {"GE", "3"}};
  const std::string answers = check_everywhere(start, script);
  CHECK_THAT(answers, Catch::Contains("CP"));
}

TEST_CASE("earlier: a tuner that cannot learn from them goes on without") {
  const auto run = [](const std::string& payload) {
    const auto daemon = Stepped::make("Random", {{"seed", 3}});
    daemon->send("IN", payload);
    daemon->send("GE", "5");
    return text_of(daemon->take());
  };
  CHECK(run(initialize()) == run(kSpace));
}

TEST_CASE("earlier: with bad ones the daemon does not start") {
  const auto daemon = Stepped::make("GP", {{"seed", 3}});
  daemon->send("IN", R"({"search_space": {"x": {"_type": "uniform", "_value": [0, 1]}},
                         "earlier": [{"name": 3}]})");
  CHECK(daemon->exit_code == kExitConfiguration);
}

}  // namespace attune::dispatcher_earlier_test
