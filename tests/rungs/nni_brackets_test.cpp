#include "rungs/nni_brackets.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

namespace attune::nni_brackets_test {

// The budgets of the next `count` jobs, each of which begins a trial from `first` on.
std::vector<double> budgets(NniBrackets& brackets, int count, TrialId first) {
  std::vector<double> all;
  for (int i = 0; i < count; ++i) {
    const auto job = brackets.take(true);
    REQUIRE(job);
    all.push_back(job->budget);
    brackets.begin(first + i, *job);
  }
  return all;
}

TEST_CASE("rounds: how many trials and which budgets, by NNI's formulas") {
  // R 60, eta 3: s_max 3; 27 trials of 2 (2.2 rounded down), 12 of 6, 6 of 20, 4 of 60.
  NniBrackets brackets(60, 3, false);
  CHECK(budgets(brackets, 27, 0) == std::vector<double>(27, 2));
  CHECK(budgets(brackets, 12, 100) == std::vector<double>(12, 6));
  CHECK(budgets(brackets, 6, 200) == std::vector<double>(6, 20));
  CHECK(budgets(brackets, 4, 300) == std::vector<double>(4, 60));
  CHECK(budgets(brackets, 1, 400) == std::vector<double>{2});
}

TEST_CASE("rounds: one bracket for itself if R is below eta") {
  NniBrackets brackets(2, 3, true);
  CHECK(budgets(brackets, 2, 0) == std::vector<double>{2, 2});
}

TEST_CASE("rounds: the best go on when all have ended") {
  NniBrackets brackets(3, 3, true);
  budgets(brackets, 3, 0);
  CHECK_FALSE(brackets.take(true));  // serial
  brackets.value(2, 1);
  brackets.value(0, 1);
  brackets.value(1, 5);
  brackets.value(1, 1);  // the last value counts, but its first one came last
  CHECK_FALSE(brackets.end(1));
  CHECK_FALSE(brackets.end(0));
  const auto round = brackets.end(2);
  REQUIRE(round);
  CHECK(round->budget == 1);
  CHECK(round->results == 3);
  CHECK(round->best == std::vector<TrialId>{2});
  CHECK(round->rest == std::vector<TrialId>{0, 1});
  CHECK(brackets.ended() == std::vector<TrialId>{2});
  const auto job = brackets.take(true);
  REQUIRE(job);
  CHECK(job->from == 2);
  CHECK(job->budget == 3);
  CHECK_FALSE(brackets.take(false));
  CHECK(brackets.take(true));  // the last round has started
}

TEST_CASE("rounds: without any value a bracket is over") {
  NniBrackets brackets(3, 3, true);
  budgets(brackets, 3, 0);
  brackets.value(0, 1);
  brackets.value(0, NAN);
  brackets.end(0);
  brackets.end(1);
  const auto round = brackets.end(2);
  REQUIRE(round);
  CHECK(round->best.empty());
  CHECK(round->rest.empty());
  CHECK(budgets(brackets, 1, 9) == std::vector<double>{3});
}

TEST_CASE("rounds: what is given back is the next to be taken") {
  NniBrackets brackets(3, 3, false);
  const auto job = brackets.take(true);
  brackets.give_back(*job);
  budgets(brackets, 3, 0);
  brackets.take_back(1);
  CHECK_FALSE(brackets.runs(1));
  CHECK(budgets(brackets, 2, 5) == std::vector<double>{1, 3});
  for (const TrialId trial : {0, 2, 5}) {
    brackets.value(trial, double(trial));
    brackets.end(trial);
  }
  budgets(brackets, 1, 7);                                   // of the bracket that was ready before
  CHECK(budgets(brackets, 1, 8) == std::vector<double>{3});  // trial 0 goes on
  brackets.take_back(8);
  const auto again = brackets.take(true);
  REQUIRE(again);
  CHECK(again->from == 0);
}

TEST_CASE("rounds: without new configurations they shrink") {
  NniBrackets brackets(9, 3, false);
  budgets(brackets, 4, 0);
  for (TrialId trial = 0; trial < 4; ++trial) brackets.value(trial, double(trial));
  for (TrialId trial = 0; trial < 3; ++trial) brackets.end(trial);
  CHECK(brackets.vacate().empty());
  const auto round = brackets.end(3);
  REQUIRE(round);
  CHECK(round->best == std::vector<TrialId>{0, 1, 2});
  NniBrackets other(9, 3, false);
  other.give_back(*other.take(true));
  const auto rounds = other.vacate();
  REQUIRE(rounds.size() == 1);
  CHECK(rounds[0].results == 0);
  CHECK_FALSE(other.take(false));
}

TEST_CASE("rounds: saved and loaded, they are the same") {
  NniBrackets brackets(9, 3, false);
  std::vector<TrialId> running;
  for (TrialId trial = 0; trial < 300; ++trial) {
    NniBrackets loaded(9, 3, false);
    const auto done = loaded.load(brackets.save());
    if (!done) FAIL(done.error().message);
    CHECK(loaded.save().dump() == brackets.save().dump());
    brackets = loaded;
    budgets(brackets, 1, trial);
    running.push_back(trial);
    if (trial % 3 != 0) brackets.value(trial, double(trial % 13));
    if (running.size() < 7) continue;
    const auto one = running.begin() + trial % 7;
    brackets.end(*one);
    running.erase(one);
  }
}

}  // namespace attune::nni_brackets_test
