#include <cmath>

#include "tests/assessors/rung_feed.h"

namespace attune {

extern const AssessorEntry hyperband_pruner_entry;

namespace hyperband_pruner_test {

TEST_CASE("HyperbandPruner: trials join the brackets in proportion to their budgets") {
  RungFeed feed(hyperband_pruner_entry, {}, {}, 5);
  std::vector<double> counts(5);
  for (TrialId trial = 0; trial < 1430; ++trial) {
    feed.report(trial, 1);
    ++counts.at(feed.state()["trials"].back()["bracket"].get<std::size_t>());
    feed.end(trial, End::completed);
  }
  const std::vector<double> expected = {810, 340, 150, 80, 50};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(counts[i] == Approx(expected[i]).margin(4 * std::sqrt(expected[i])));
  }
}

TEST_CASE("HyperbandPruner: a bracket compares only its own trials, from its own first rung on") {
  const json args = {{"max_resource", 9}};
  RungFeed feed(hyperband_pruner_entry, args, {}, 5);
  Rng rng(1);
  std::vector<std::set<std::string>> rungs(3);
  for (TrialId trial = 0; trial < 200; ++trial) {
    std::string reason;
    for (int step = 0; step < 12 && reason.empty(); ++step) {
      reason = feed.report(trial, rng.normal()).reason;
    }
    const std::size_t bracket = feed.state()["trials"].back()["bracket"];
    if (!reason.empty()) rungs.at(bracket).insert(reason.substr(0, reason.find(':')));
    if (trial % 50 == 0) feed.restart();
    feed.end(trial, reason.empty() ? End::completed : End::stopped);
  }
  CHECK(rungs[0] == std::set<std::string>{"rung 1", "rung 3", "rung 9"});
  CHECK(rungs[1] == std::set<std::string>{"rung 3", "rung 9"});
  CHECK(rungs[2] == std::set<std::string>{"rung 9"});
}

TEST_CASE("HyperbandPruner: a state of other arguments is an error and changes nothing") {
  RungFeed feed(hyperband_pruner_entry, {{"max_resource", 9}});
  for (int step = 0; step < 5; ++step) feed.report(0, 1);
  RungFeed other(hyperband_pruner_entry, {});
  const json before = other.state();
  CHECK_FALSE(other.load(feed.state()));
  CHECK(other.state() == before);
}

TEST_CASE("HyperbandPruner: wrong arguments are errors that name them") {
  CHECK(complaint(hyperband_pruner_entry, {{"min_resource", 5}, {"max_resource", 4}}) ==
        "HyperbandPruner.min_resource: must be at most max_resource");
  CHECK(
      complaint(hyperband_pruner_entry, {{"max_resource", "auto"}}).starts_with("HyperbandPruner"));
  CHECK(complaint(hyperband_pruner_entry, {{"min_resource", 4}, {"max_resource", 4}}).empty());
}

}  // namespace hyperband_pruner_test
}  // namespace attune
