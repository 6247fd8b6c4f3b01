#include "manager/trials/checkpoint_keeper.h"

#include <catch2/catch.hpp>

namespace attune::checkpoint_keeper_test {

using Ids = CheckpointKeeper::Ids;

TEST_CASE("checkpoints: the newest of each trial are kept") {
  CheckpointRules rules;
  rules.keep = 2;
  CheckpointKeeper keeper(rules);
  CHECK(keeper.next_id("a") == "a-1");
  CHECK(keeper.saved("a", "a-1", 10).empty());
  CHECK(keeper.saved("a", "a-2", 10).empty());
  CHECK(keeper.saved("b", "b-1", 10).empty());
  CHECK(keeper.saved("a", "a-3", 10) == Ids{"a-1"});
  CHECK(keeper.newest("a") == "a-3");
  CHECK(keeper.bytes() == 30);
  CHECK(keeper.newest("nobody").empty());
}

TEST_CASE("checkpoints: numbers go on after those of an earlier session") {
  CheckpointKeeper keeper;
  keeper.saved("t0007", "t0007-12", 1);
  CHECK(keeper.next_id("t0007") == "t0007-13");
}

TEST_CASE("checkpoints: a budget takes the oldest that nobody needs") {
  CheckpointRules rules;
  rules.keep = 10;
  rules.budget = 25;
  CheckpointKeeper keeper(rules);
  keeper.saved("a", "a-1", 10);
  keeper.saved("b", "b-1", 10);
  // The newest of trials that may go on are needed, budget or not.
  CHECK(keeper.saved("c", "c-1", 10).empty());
  CHECK(keeper.saved("a", "a-2", 10) == Ids{"a-1"});
  CHECK(keeper.ended("b") == Ids{"b-1"});
  CHECK(keeper.bytes() == 20);
}

TEST_CASE("checkpoints: a pinned one stays until it was used") {
  CheckpointKeeper keeper;
  keeper.saved("a", "a-1", 10);
  keeper.pin("a-1");
  CHECK(keeper.saved("a", "a-2", 10).empty());
  CHECK(keeper.dropped("a-1").empty());
  CHECK(keeper.unpin("a-1") == Ids{"a-1"});
  CHECK(keeper.dropped("a-2").empty());  // the trial may go on with it
  keeper.ended("a");
  CHECK(keeper.dropped("a-2") == Ids{"a-2"});
  CHECK(keeper.unpin("a-2").empty());
}

TEST_CASE("checkpoints: one that the decider may name stays until it is dropped") {
  const bool delete_at_end = GENERATE(true, false);
  CheckpointKeeper keeper({.keep = 1, .budget = 15, .delete_at_end = delete_at_end});
  const std::string named = keeper.next_id("a"), last = keeper.next_id("a");
  CHECK(keeper.saved("a", named, 10).empty());
  keeper.hold(named);
  keeper.hold("unknown");
  CHECK(keeper.saved("a", last, 10).empty());  // it is the newest, and the budget is exceeded
  CHECK(keeper.ended("a") == std::vector<std::string>{last});
  CHECK(keeper.held() == std::vector<std::string>{named});
  if (delete_at_end) {
    CHECK(keeper.dropped(named) == std::vector<std::string>{named});
  } else {
    CHECK(keeper.release_all() == std::vector<std::string>{named});
  }
  CHECK(keeper.held().empty());
}

TEST_CASE("checkpoints: a trial that has ended may keep none") {
  CheckpointRules rules;
  rules.delete_at_end = true;
  CheckpointKeeper keeper(rules);
  keeper.saved("a", "a-1", 10);
  CHECK(keeper.ended("a") == Ids{"a-1"});
  CHECK(keeper.bytes() == 0);
  CHECK(keeper.ended("never saved").empty());
}

}  // namespace attune::checkpoint_keeper_test
