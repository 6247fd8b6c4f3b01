#include <cmath>

#include "tests/assessors/rung_feed.h"

namespace attune {

extern const AssessorEntry successive_halving_entry;

namespace successive_halving_test {

TEST_CASE("SuccessiveHalving: steps are counted from 0, as in Optuna") {
  RungFeed feed(successive_halving_entry, {{"reduction_factor", 2}});
  CHECK_FALSE(feed.stops(0, 1));  // step 0
  CHECK_FALSE(feed.stops(0, 1));  // step 1: the first rung
  CHECK_FALSE(feed.stops(1, 5));
  CHECK(feed.report(1, 5).reason == "rung 1: 5 ranks 2 of 2; the best 1 end at 1");
}

TEST_CASE("SuccessiveHalving: the arguments of Optuna's pruner") {
  RungFeed later(successive_halving_entry, {{"min_resource", 2},
                                            {"reduction_factor", 3},
                                            {"min_early_stopping_rate", 1},
                                            {"optimize_mode", "maximize"}});
  for (int step = 0; step < 7; ++step) CHECK_FALSE(later.stops(0, 1));
  for (int step = 0; step < 6; ++step) CHECK_FALSE(later.stops(1, 0.5));
  CHECK(later.report(1, 0.5).reason == "rung 6: 0.5 ranks 2 of 2; the best 1 end at 1");

  RungFeed bootstrap(successive_halving_entry, {{"bootstrap_count", 2}});
  for (const TrialId trial : {0, 1}) {
    CHECK_FALSE(bootstrap.stops(trial, 1));
    CHECK(bootstrap.stops(trial, 1));
  }
  CHECK_FALSE(bootstrap.stops(2, 1));
  CHECK_FALSE(bootstrap.stops(2, 1));
}

TEST_CASE("SuccessiveHalving: the step may be a metric") {
  RungFeed feed(successive_halving_entry, {{"reduction_factor", 2}, {"step_attr", "epoch"}});
  CHECK(feed.report(0, {{"default", 1}, {"epoch", 1}}).action == Action::keep_going);
  CHECK(feed.report(1, {{"default", 5}, {"epoch", 0}}).action == Action::keep_going);
  CHECK(feed.report(1, {{"default", 5}}).action == Action::keep_going);
  CHECK(feed.report(1, {{"default", 5}, {"epoch", 1}}).action == Action::stop);
}

TEST_CASE("SuccessiveHalving: no number, a runaway number, and no metric") {
  RungFeed feed(successive_halving_entry, {});
  CHECK_FALSE(feed.stops(0, NAN));
  CHECK(feed.stops(0, NAN));
  CHECK_FALSE(feed.stops(1, 1));
  CHECK_FALSE(feed.stops(1, 1));
  CHECK_FALSE(feed.stops(2, -INFINITY));
  CHECK(feed.stops(2, -INFINITY));
  const json before = feed.state()["rungs"];
  CHECK_FALSE(feed.stops(3, 1));
  CHECK(feed.report(3, Metrics{}).action == Action::keep_going);
  CHECK(feed.state()["rungs"] == before);
  CHECK(feed.stops(3, 2));  // the next report is judged instead
}

TEST_CASE("SuccessiveHalving: together, again, and loaded") {
  RungFeed feed(successive_halving_entry, {{"reduction_factor", 2}});
  for (int step = 0; step < 5; ++step) feed.report(0, 1);
  feed.restart();
  feed.add(1, {{"default", 3}});
  feed.add(1, {{"default", 0.5}});
  CHECK(feed.report(1, 3).reason == "rung 2: 3 ranks 2 of 2; the best 1 end at 1");
  const json before = feed.state();
  CHECK(feed.rewrite(1, 2, 0).action == Action::keep_going);
  CHECK(feed.state() == before);
  feed.restart();
  feed.end(1, End::stopped);
  feed.end(0, End::failed);
  CHECK(feed.state()["trials"].empty());
  CHECK(feed.state()["rungs"] == before["rungs"]);
}

TEST_CASE("SuccessiveHalving: wrong arguments are errors") {
  for (const json& args :
       {json{{"min_resource", 0}}, json{{"min_resource", "auto"}}, json{{"reduction_factor", 1}},
        json{{"min_early_stopping_rate", -1}}, json{{"bootstrap_count", -1}}}) {
    CHECK(complaint(successive_halving_entry, args).starts_with("SuccessiveHalving"));
  }
}

}  // namespace successive_halving_test
}  // namespace attune
