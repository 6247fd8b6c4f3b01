// Every order in which the reports and the end of a trial can come, with every schedule of the two
// workers: what the tuner learns depends on the order of the commands only.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/scripted_assessor.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/stepped.h"

namespace attune::orders_test {

using Lines = std::vector<std::string>;

constexpr const char* kKinds = "BEFG";  // a bad intermediate result, the end, two finals
constexpr int kSchedules = 4;           // after a command: none, tune, assess, both

std::string metric(const char* type, const char* value) {
  return dump_json({{"parameter_id", 0},
                    {"trial_job_id", "A"},
                    {"type", type},
                    {"sequence", 0},
                    {"value", value}});
}

void accept(Stepped& daemon, char kind) {
  switch (kind) {
    case 'B':
      return daemon.accept("ME", metric("PERIODICAL", "-1"));
    case 'F':
      return daemon.accept("ME", metric("FINAL", "3"));
    case 'G':
      return daemon.accept("ME", metric("FINAL", "4"));
    default:
      return daemon.accept("EN", R"({"trial_job_id":"A","event":"SUCCEEDED",
                                     "hyper_params":"{\"parameter_id\":0}"})");
  }
}

struct Run {
  Lines told;           // the tuner
  std::string answers;  // codes, in order
};

// `schedule`: digits to the base of kSchedules, one a command.
Run run(const std::string& order, int schedule, bool include_intermediate) {
  auto owned = std::make_unique<ScriptedTuner>();
  ScriptedTuner* tuner = owned.get();
  DispatcherOptions options;
  options.include_intermediate = include_intermediate;
  Stepped daemon(std::move(owned), false, std::make_unique<ScriptedAssessor>(), options);
  daemon.send("IN", R"({"x":{"_type":"uniform","_value":[0,1]}})");
  daemon.send("GE", "1");
  daemon.take();
  for (const char kind : order) {
    accept(daemon, kind);
    const int what = schedule % kSchedules;
    schedule /= kSchedules;
    while ((what & 1) && daemon.step_tune()) {
    }
    while ((what & 2) && daemon.step_assess()) {
    }
  }
  daemon.settle();
  Run result{tuner->told, {}};
  for (const Frame& frame : daemon.take()) result.answers += frame.code + " ";
  return result;
}

std::vector<std::string> orders() {
  std::vector<std::string> all;
  std::string order = kKinds;
  std::ranges::sort(order);
  do all.push_back(order);
  while (std::ranges::next_permutation(order).found);
  return all;
}

constexpr int kAllSchedules = kSchedules * kSchedules * kSchedules * kSchedules;

TEST_CASE("in every order of reports and end the tuner is told once, the first final") {
  for (const std::string& order : orders()) {
    const std::size_t end = order.find('E');
    const std::string should =
        order.find('F') < order.find('G') ? "0 completed 3" : "0 completed 4";
    for (int schedule = 0; schedule < kAllSchedules; ++schedule) {
      CAPTURE(order, schedule);
      const Run is = run(order, schedule, false);
      REQUIRE(is.told == Lines{should});
      // A kill is sent at most once, and never when the end came first.
      REQUIRE((is.answers.empty() || is.answers == "KI "));
      if (order.find('B') > end) REQUIRE(is.answers.empty());
      // Who judges at once kills.
      if (schedule == kAllSchedules - 1 && order.find('B') < end) REQUIRE(is.answers == "KI ");
    }
  }
}

TEST_CASE("with the last intermediate result as the final one the tuner is told once, too") {
  for (const std::string& order : orders()) {
    for (int schedule = 0; schedule < kAllSchedules; ++schedule) {
      CAPTURE(order, schedule);
      const Run is = run(order, schedule, true);
      REQUIRE(is.told.size() == 1);
      // Judged in time, and before any final: its value. Else a final.
      const bool in_time = order.find('B') == 0 && schedule % kSchedules >= 2;
      if (in_time) REQUIRE(is.told[0] == "0 completed -1");
      const bool known = is.told[0] == "0 completed -1" || is.told[0] == "0 completed 3" ||
                         is.told[0] == "0 completed 4";
      REQUIRE(known);
    }
  }
}

}  // namespace attune::orders_test
