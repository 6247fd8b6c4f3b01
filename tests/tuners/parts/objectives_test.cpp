#include "tuners/parts/objectives.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace attune::objectives_test {

Outcome outcome(std::optional<double> loss, Metrics metrics) {
  return {.trial = 1, .loss = loss, .metrics = std::move(metrics)};
}

const Context kThree = {.max_trials = {},
                        .concurrency = {},
                        .objectives = {{"accuracy", true}, {"seconds", false}, {"recall", true}}};

TEST_CASE("objectives: the loss is signed already and the others are signed here") {
  const Objectives objectives(kThree);
  CHECK(objectives.size() == 3);
  CHECK(objectives.several());
  const Metrics metrics = {{"recall", 0.5}, {"other", 9}, {"accuracy", 0.9}, {"seconds", 12}};
  CHECK(objectives(outcome(-0.9, metrics)) == std::vector<double>{-0.9, 12, -0.5});
}

TEST_CASE("objectives: one that is missing or not finite leaves nothing") {
  const Objectives objectives(kThree);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(objectives(outcome({}, {{"seconds", 1}, {"recall", 1}})));
  CHECK_FALSE(objectives(outcome(nan, {{"seconds", 1}, {"recall", 1}})));
  CHECK_FALSE(objectives(outcome(-0.9, {{"seconds", 1}})));
  CHECK_FALSE(objectives(outcome(-0.9, {{"seconds", 1}, {"recall", nan}})));
  CHECK_FALSE(objectives(outcome(-0.9, {{"seconds", HUGE_VAL}, {"recall", 1}})));
}

TEST_CASE("objectives: of a metric that was reported twice the first counts") {
  const Objectives objectives(kThree);
  const Metrics metrics = {{"seconds", 1}, {"seconds", 2}, {"recall", 3}, {"recall", 4}};
  CHECK(objectives(outcome(0, metrics)) == std::vector<double>{0, 1, -3});
}

TEST_CASE("objectives: a single one is the loss whatever is reported with it") {
  for (const Context& context :
       {Context{}, Context{.max_trials = {}, .concurrency = {}, .objectives = {{"x", true}}}}) {
    const Objectives objectives(context);
    CHECK(objectives.size() == 1);
    CHECK_FALSE(objectives.several());
    CHECK(objectives(outcome(3, {})) == std::vector<double>{3});
    CHECK_FALSE(objectives(outcome({}, {{"x", 1}})));
  }
}

TEST_CASE("objectives: a limit is not optimised but measured") {
  const Objectives objectives(Context{
      .max_trials = {},
      .concurrency = {},
      .objectives = {
          {"loss", false}, {"recall", true, 0.8}, {"size", false}, {"seconds", false, 10.0}}});
  CHECK(objectives.size() == 2);
  CHECK(objectives.limits() == 2);
  const auto kept = objectives(outcome(3, {{"size", 5}, {"seconds", 8}, {"recall", 0.9}}));
  REQUIRE(kept);
  REQUIRE(kept->size() == 4);
  CHECK((*kept)[1] == 5);
  CHECK((*kept)[2] == Approx(-0.1));
  CHECK((*kept)[3] == -2);
  CHECK(violation(*kept, 2) == 0);
  const auto broken = objectives(outcome(3, {{"size", 5}, {"seconds", 14}, {"recall", 0.5}}));
  REQUIRE(broken);
  CHECK(violation(*broken, 2) == Approx(4.3));
  CHECK_FALSE(objectives(outcome(3, {{"size", 5}, {"seconds", 14}})));
}

TEST_CASE("objectives: a limit is kept by any margin that a double can express") {
  const Objectives objectives(Context{.max_trials = {},
                                      .concurrency = {},
                                      .objectives = {{"loss", false}, {"size", false, 1e308}}});
  const auto values = objectives(outcome(3, {{"size", -1e308}}));
  REQUIRE(values);
  CHECK((*values)[1] == std::numeric_limits<double>::lowest());
}

TEST_CASE("objectives: only what ended with a result, or has a value assumed, has any") {
  const Objectives objectives(Context{});
  for (const End end : {End::failed, End::diverged}) {
    CHECK_FALSE(objectives({.trial = 1, .loss = 3, .end = end}));
  }
  CHECK_FALSE(objectives({.trial = 1, .end = End::stopped}));
  CHECK(objectives({.trial = 1, .loss = 3, .end = End::stopped}));
  CHECK(objectives({.trial = 1, .loss = 3, .end = End::imported}));
}

}  // namespace attune::objectives_test
