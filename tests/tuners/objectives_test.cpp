#include "tuners/objectives.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace attune {
namespace {

Outcome outcome(std::optional<double> loss, Metrics metrics) {
  return {.trial = 1, .loss = loss, .metrics = std::move(metrics)};
}

const Context kThree = {.max_trials = {},
                        .concurrency = {},
                        .objectives = {{"accuracy", true}, {"seconds", false}, {"recall", true}}};

}  // namespace

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

}  // namespace attune
