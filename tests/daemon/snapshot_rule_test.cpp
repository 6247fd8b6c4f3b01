// How often the journal gets a snapshot: by what a replay would cost, and by what snapshots cost.
#include "daemon/snapshot_rule.h"

#include <catch2/catch.hpp>

namespace attune::snapshot_rule_test {

constexpr std::uint64_t kBytes = 1000;

TEST_CASE("snapshots: due when a replay would take a quarter of a second, or at so many bytes") {
  const ManualClock clock;
  const SnapshotRule rule(clock, kBytes);
  CHECK_FALSE(rule.due({.bytes = 10, .seconds = 0.24}));
  CHECK(rule.due({.bytes = 10, .seconds = 0.25}));
  CHECK_FALSE(rule.due({.bytes = 999}));
  CHECK(rule.due({.bytes = 1000}));
  CHECK_FALSE(rule.due({.bytes = 0, .seconds = 100}));  // there is nothing to be shortened
}

TEST_CASE("snapshots: a large one has to be worth it") {
  const ManualClock clock;
  const SnapshotRule rule(clock, kBytes);
  CHECK_FALSE(rule.due({.bytes = 3999, .snapshot_bytes = 1000}));
  CHECK(rule.due({.bytes = 4000, .snapshot_bytes = 1000}));
  CHECK_FALSE(rule.due({.bytes = 10, .seconds = 1.9, .saving = 0.1}));
  CHECK(rule.due({.bytes = 10, .seconds = 2, .saving = 0.1}));
}

TEST_CASE("snapshots: after writing one there is a rest") {
  ManualClock clock;
  SnapshotRule rule(clock, kBytes);
  const SnapshotRule::Since costly{.bytes = 10, .seconds = 100};
  rule.begun();
  clock.advance(0.5);
  rule.ended(true);
  CHECK_FALSE(rule.due(costly));
  CHECK(rule.due({.bytes = 1000}));  // the journal must not grow
  clock.advance(2.25);
  CHECK_FALSE(rule.due(costly));
  clock.advance(0.5);
  CHECK(rule.due(costly));
}

TEST_CASE("snapshots: one that cannot be written is not tried again at once") {
  ManualClock clock;
  SnapshotRule rule(clock, kBytes);
  rule.begun();
  rule.ended(false);
  CHECK_FALSE(rule.due({.bytes = 5000, .seconds = 100}));
  clock.advance(0.99);
  CHECK_FALSE(rule.due({.bytes = 5000, .seconds = 100}));
  clock.advance(0.02);
  CHECK(rule.due({.bytes = 5000}));
}

}  // namespace attune::snapshot_rule_test
