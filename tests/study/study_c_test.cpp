// The functions of study_c.h, as a program in another language uses them.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <thread>

#include "base/json.h"
#include "study/study_c.h"
#include "tests/support/temporary_folder.h"

namespace attune::study_c_test {

using Catch::Contains;

struct Free {
  void operator()(attune_study* study) const { attune_study_free(study); }
};
using Handle = std::unique_ptr<attune_study, Free>;

const char* const kSpace = R"({"x": {"_type": "uniform", "_value": [0, 1]}})";

Handle created(const json& options = json::object(), const char* space = kSpace) {
  attune_study* study = nullptr;
  const int code = attune_study_create(space, dump_json(options).c_str(), &study);
  if (code != ATTUNE_STUDY_OK) FAIL(attune_study_error(study));
  return Handle(study);
}

std::string refusal(const char* space, const char* options) {
  attune_study* study = nullptr;
  const int code = attune_study_create(space, options, &study);
  const Handle handle(study);
  return code == ATTUNE_STUDY_OK ? "" : attune_study_error(study);
}

// What a function that returns JSON gives.
template <class Function, class... Args>
json given(Function function, const Handle& study, Args... args) {
  const char* text = nullptr;
  const int code = function(study.get(), args..., &text);
  if (code == ATTUNE_STUDY_NONE) return nullptr;
  if (code != ATTUNE_STUDY_OK) FAIL(attune_study_error(study.get()));
  return parse_json(text).value();
}

std::int64_t count(const Handle& study, const char* state = nullptr) {
  std::int64_t found = -1;
  REQUIRE(attune_study_count(study.get(), state, &found) == ATTUNE_STUDY_OK);
  return found;
}

TEST_CASE("study_c: it asks, is told, and knows the best") {
  const Handle study = created({{"tuner", "TPE"}, {"seed", 3}});
  CHECK(given(attune_study_best, study).is_null());
  double best = HUGE_VAL;
  for (std::int64_t id = 0; id < 20; ++id) {
    const json asked = given(attune_study_ask, study, 1);
    CHECK(asked["no_more"] == false);
    const json& trial = asked["trials"].at(0);
    CHECK(trial["id"] == id);
    const double loss = std::abs(trial["parameters"]["x"].get<double>() - 0.25);
    best = std::min(best, loss);
    if (id % 2 == 0) {
      CHECK(attune_study_tell(study.get(), id, loss) == ATTUNE_STUDY_OK);
    } else {
      const json value = {{"default", loss}, {"other", 7}};
      CHECK(attune_study_tell_json(study.get(), id, dump_json(value).c_str()) == ATTUNE_STUDY_OK);
    }
  }
  CHECK(count(study) == 20);
  CHECK(count(study, "completed") == 20);
  CHECK(given(attune_study_best, study)["value"] == best);
  CHECK(given(attune_study_trials, study).size() == 20);
  CHECK(given(attune_study_trade_offs, study).size() == 1);
  CHECK(attune_study_keeps_limits(study.get()) == 1);
  const json last = given(attune_study_trial, study, 19);
  CHECK(last["metrics"]["other"] == 7.0);
  CHECK(last["state"] == "completed");
  CHECK(given(attune_study_trial, study, 20).is_null());
}

TEST_CASE("study_c: reports, and why a trial should end") {
  const Handle study = created(
      {{"seed", 1}, {"assessor", {{"name", "Medianstop"}, {"arguments", {{"start_step", 1}}}}}});
  const auto report = [&](std::int64_t id, double value) {
    const char* stop = nullptr;
    REQUIRE(attune_study_report(study.get(), id, value, -1, &stop) == ATTUNE_STUDY_OK);
    return std::string(stop == nullptr ? "" : stop);
  };
  given(attune_study_ask, study, 2);
  for (const double value : {3, 2, 1}) CHECK(report(0, value).empty());
  REQUIRE(attune_study_tell(study.get(), 0, 1.0) == ATTUNE_STUDY_OK);
  std::string why;
  for (int step = 0; step < 3 && why.empty(); ++step) why = report(1, 10);
  CHECK_THAT(why, Contains("median"));
  CHECK(attune_study_stop(study.get(), 1) == ATTUNE_STUDY_OK);
  CHECK(given(attune_study_trial, study, 1)["state"] == "stopped");
  CHECK(given(attune_study_trial, study, 0)["reports"].size() == 3);
  const char* stop = nullptr;  // the trial has ended
  CHECK(attune_study_report_json(study.get(), 1, "{}", 0, &stop) == ATTUNE_STUDY_FAILED);
}

TEST_CASE("study_c: what is not a number is kept, as Python writes it") {
  const Handle study = created();
  given(attune_study_ask, study, 2);
  CHECK(attune_study_tell(study.get(), 0, std::nan("")) == ATTUNE_STUDY_OK);
  CHECK(attune_study_tell_json(study.get(), 1, R"({"default": Infinity})") == ATTUNE_STUDY_OK);
  CHECK(count(study, "diverged") == 2);
  const char* text = nullptr;
  REQUIRE(attune_study_trial(study.get(), 0, &text) == ATTUNE_STUDY_OK);
  CHECK_THAT(text, Contains(R"("metrics":{"default":NaN})"));
}

TEST_CASE("study_c: batches, imports and trials of the user are taken whole or not at all") {
  const Handle study = created({{"seed", 1}});
  given(attune_study_ask, study, 3);
  CHECK(attune_study_tell_all(study.get(), "[[0, 1.5], [7, 2]]") == ATTUNE_STUDY_FAILED);
  CHECK_THAT(attune_study_error(study.get()), Contains("7"));
  CHECK(count(study, "running") == 3);
  CHECK(attune_study_tell_all(study.get(), "[[0, 1.5], [1, 2]]") == ATTUNE_STUDY_OK);
  CHECK(attune_study_fail(study.get(), 2, nullptr) == ATTUNE_STUDY_OK);
  CHECK(attune_study_enqueue(study.get(), R"({"x": 0.75})") == ATTUNE_STUDY_OK);
  CHECK(attune_study_enqueue(study.get(), R"({"x": 75})") == ATTUNE_STUDY_FAILED);
  CHECK(given(attune_study_ask, study, 1)["trials"][0]["parameters"]["x"] == 0.75);
  CHECK(given(attune_study_running, study).size() == 1);
  const std::string one = R"([{"parameters": {"x": 0.5}, "value": 3}])";
  CHECK(attune_study_import(study.get(), one.c_str()) == ATTUNE_STUDY_OK);
  for (const char* wrong : {"[[1, 2]]", "{}", "[{\"value\": 1}]", "[1"}) {
    CHECK(attune_study_import(study.get(), wrong) == ATTUNE_STUDY_FAILED);
    CHECK(attune_study_tell_all(study.get(), wrong) == ATTUNE_STUDY_FAILED);
  }
}

TEST_CASE("study_c: without a search space a trial says what it needs") {
  const Handle study = created({{"tuner", "TPE"}}, "{}");
  const json asked = given(attune_study_ask, study, 1);
  CHECK(asked["trials"][0]["parameters"] == json::object());
  const char* const range = R"({"_type": "uniform", "_value": [2, 3]})";
  const json x = given(attune_study_suggest, study, std::int64_t{0}, "x", range);
  CHECK(x >= 2.0);
  CHECK(x <= 3.0);
  CHECK(given(attune_study_suggest, study, std::int64_t{0}, "x", range) == x);
  CHECK(given(attune_study_trial, study, std::int64_t{0})["parameters"] == json({{"x", x}}));
  CHECK(attune_study_declare(study.get(), kSpace) == ATTUNE_STUDY_OK);
  const char* text = nullptr;
  CHECK(attune_study_suggest(study.get(), 0, "x", "[", &text) == ATTUNE_STUDY_FAILED);
  CHECK_THAT(attune_study_error(study.get()), Contains("declared"));
  CHECK(attune_study_declare(study.get(), "[]") == ATTUNE_STUDY_FAILED);
}

TEST_CASE("study_c: a tuner that has no more says so") {
  const Handle study =
      created({{"tuner", "GridSearch"}}, R"({"c": {"_type": "choice", "_value": ["a", "b"]}})");
  const json asked = given(attune_study_ask, study, 5);
  CHECK(asked["trials"].size() == 2);
  CHECK(asked["no_more"] == true);
  CHECK_FALSE(asked["reason"].get<std::string>().empty());
}

TEST_CASE("study_c: the importance of parameters, the largest first") {
  const Handle study = created(
      {{"tuner", "Random"}, {"seed", 1}, {"objectives", {{{"metric", "a"}}, {{"metric", "b"}}}}},
      R"({"x": {"_type": "uniform", "_value": [0, 1]}, "y": {"_type": "uniform", "_value": [0, 1]}})");
  const char* text = nullptr;
  CHECK(attune_study_importance(study.get(), nullptr, &text) == ATTUNE_STUDY_FAILED);
  CHECK_THAT(attune_study_error(study.get()), Contains("2 completed trials"));
  for (std::int64_t id = 0; id < 50; ++id) {
    const json trial = given(attune_study_ask, study, 1)["trials"][0]["parameters"];
    const json value = {{"a", trial["y"]}, {"b", trial["x"]}};
    REQUIRE(attune_study_tell_json(study.get(), id, dump_json(value).c_str()) == ATTUNE_STUDY_OK);
  }
  const json first = given(attune_study_importance, study, static_cast<const char*>(nullptr));
  CHECK(first.size() == 2);
  CHECK(first.begin().key() == "y");
  CHECK(first["y"].get<double>() + first["x"].get<double>() == Approx(1));
  CHECK(first["y"] > 0.9);
  CHECK(given(attune_study_importance, study, "a") == first);
  CHECK(given(attune_study_importance, study, "b").begin().key() == "x");
  CHECK(attune_study_importance(study.get(), "c", &text) == ATTUNE_STUDY_FAILED);
  CHECK_THAT(attune_study_error(study.get()), Contains("\"c\" is no objective"));
}

TEST_CASE("study_c: a file goes on where it was") {
  const TemporaryFolder folder;
  const std::string file = folder.path / "study.jsonl";
  const json options = {{"seed", 9}, {"file", file}, {"durability", "each_second"}};
  const auto next = [](const Handle& study) {
    return given(attune_study_ask, study, 1)["trials"][0]["parameters"]["x"].get<double>();
  };
  {
    const Handle study = created(options);
    next(study);
    REQUIRE(attune_study_tell(study.get(), 0, 0.5) == ATTUNE_STUDY_OK);
    CHECK_THAT(refusal(kSpace, dump_json(options).c_str()), Contains(file));
  }
  attune_study* opened = nullptr;
  REQUIRE(attune_study_load(file.c_str(), &opened) == ATTUNE_STUDY_OK);
  const double expected = next(Handle(opened));
  REQUIRE(attune_study_open(file.c_str(), nullptr, &opened) == ATTUNE_STUDY_OK);
  const Handle study(opened);
  CHECK(next(study) == expected);
  CHECK(given(attune_study_warnings, study) == json::array());
  const std::string copy = folder.path / "copy.jsonl";
  CHECK(attune_study_save(study.get(), copy.c_str()) == ATTUNE_STUDY_OK);
  CHECK(attune_study_open((file + "x").c_str(), "always", &opened) == ATTUNE_STUDY_FAILED);
  CHECK_THAT(attune_study_error(opened), Contains(file + "x"));
  attune_study_free(opened);
  CHECK(attune_study_open(copy.c_str(), "sometimes", &opened) == ATTUNE_STUDY_FAILED);
  CHECK_THAT(attune_study_error(opened), Contains("durability: must be"));
  attune_study_free(opened);
}

TEST_CASE("study_c: wrong options are errors with a place") {
  for (const auto& [options, message] : std::vector<std::pair<const char*, const char*>>{
           {"{", "options: "},
           {"[]", "options: must be an object, not an array"},
           {R"({"tunr": "TPE"})", "did you mean \"tuner\"?"},
           {R"({"tuner": "TPEE"})", "did you mean \"TPE\"?"},
           {R"({"tuner": 3})", "options.tuner: must be an object"},
           {R"({"tuner": {"arguments": {}}})", "options.tuner.name: a text is missing"},
           {R"({"assessor": {"name": "Medianstop", "args": {}}})", "options.assessor: unknown"},
           {R"({"objectives": [{"metric": "a"}, {"limit": 1}]})", "options.objectives[1].metric"},
           {R"({"seed": -1})", "options.seed: must be an integer from 0"},
           {R"({"max_trials": 0})", "options.max_trials: must be from 1"},
           {R"({"concurrency": 1.5})", "options.concurrency: must be an integer"},
           {R"({"if_exists": "replace"})", "options.if_exists: must be"},
           {R"({"durability": "now"})", "durability: must be"},
           {R"({"constraints": [1]})", "options.constraints: each one must be a text"}}) {
    CAPTURE(options);
    CHECK_THAT(refusal(kSpace, options), Contains(message));
  }
  CHECK_THAT(refusal("{\"x\": 1}", nullptr), Contains("x"));
  CHECK_THAT(refusal("nonsense", nullptr), Contains("space: "));
  CHECK(refusal(kSpace, nullptr).empty());
}

TEST_CASE("study_c: a handle without a study refuses everything with the first error") {
  attune_study* study = nullptr;
  REQUIRE(attune_study_create("{", nullptr, &study) == ATTUNE_STUDY_FAILED);
  const Handle handle(study);
  const std::string why = attune_study_error(study);
  const char* text = nullptr;
  std::int64_t number = 0;
  CHECK(attune_study_ask(study, 1, &text) == ATTUNE_STUDY_FAILED);
  CHECK(attune_study_tell(study, 0, 1) == ATTUNE_STUDY_FAILED);
  CHECK(attune_study_count(study, nullptr, &number) == ATTUNE_STUDY_FAILED);
  CHECK(attune_study_error(study) == why);
  CHECK(attune_study_keeps_limits(study) == 0);
  CHECK(attune_study_best(nullptr, &text) == ATTUNE_STUDY_FAILED);
  CHECK(std::string(attune_study_error(nullptr)) == "there is no study");
  attune_study_free(nullptr);
}

TEST_CASE("study_c: the version") {
  CHECK(attune_study_abi() == ATTUNE_STUDY_ABI);
  CHECK_THAT(attune_study_version(), Catch::Matches("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST_CASE("study_c: different threads use different handles") {
  std::array<std::thread, 2> threads;
  std::array<std::string, 2> found;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i] = std::thread([&found, i] {
      attune_study* study = nullptr;
      if (attune_study_create(kSpace, R"({"seed": 4})", &study) == ATTUNE_STUDY_OK) {
        const char* text = nullptr;
        for (std::int64_t id = 0; id < 30; ++id) {
          attune_study_ask(study, 1, &text);
          found[i] += text;
          attune_study_tell(study, id, 1.0 / static_cast<double>(id + 1));
        }
      }
      attune_study_free(study);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(found[0].empty());
  CHECK(found[0] == found[1]);
}

}  // namespace attune::study_c_test
