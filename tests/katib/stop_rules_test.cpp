#include "katib/stop_rules.h"

#include <catch2/catch.hpp>

#include "tests/katib/katib_helpers.h"

using namespace attune;
using namespace attune::katib;

namespace {

StopRules::Request request_of(int trials) {
  StopRules::Request request;
  *request.mutable_experiment() = experiment_of({spec_of("x", pb::DOUBLE, "0", "1")});
  request.mutable_experiment()->mutable_spec()->mutable_early_stopping()->set_algorithm_name(
      "medianstop");
  request.set_db_manager_address("somewhere");
  for (int i = 0; i < trials; ++i) {
    pb::Trial& trial = *request.add_trials();
    trial.set_name("t" + std::to_string(i));
    trial.mutable_status()->set_condition(pb::TrialStatus::SUCCEEDED);
  }
  return request;
}

}  // namespace

TEST_CASE("stop rules: a call that nobody waits for any more reads no further") {
  const AssessorRegistry assessors = builtin_assessors();
  int read = 0;
  StopRules rules(
      assessors,
      [&read](const std::string&, const std::string&, const std::string&) {
        ++read;
        return Result<std::vector<double>>(std::vector{1.0, 2.0});
      },
      Log());
  const auto cancelled = rules.rules(request_of(5), [&read] { return read == 2; });
  CHECK(error_of(cancelled) == "the call was cancelled");
  CHECK(read == 2);
  // What was read is known.
  const auto reply = rules.rules(request_of(5), [] { return false; });
  REQUIRE(error_of(reply) == "");
  CHECK(read == 5);
  CHECK(reply->early_stopping_rules_size() == 1);
}

TEST_CASE("stop rules: a trial whose reports cannot be read does not hide the others") {
  const AssessorRegistry assessors = builtin_assessors();
  std::vector<std::string> asked;
  const auto read = [&](const std::string&, const std::string& trial, const std::string&) {
    asked.push_back(trial);
    if (trial == "t0" || asked.size() > 5) return Result<std::vector<double>>(fail("lost"));
    return Result<std::vector<double>>(std::vector{1.0});
  };
  StopRules rules(assessors, read, Log());
  const auto ask = [&](int trials) {
    const auto reply = rules.rules(request_of(trials), [] { return false; });
    REQUIRE(error_of(reply) == "");
    return reply->early_stopping_rules_size();
  };
  CHECK(ask(5) == 1);
  CHECK(asked == std::vector<std::string>{"t0", "t1", "t2", "t3", "t4"});
  // Nobody answers: it does not ask for each of them.
  asked.resize(6);
  CHECK(ask(20) == 1);
  CHECK(asked.size() == 9);
}
