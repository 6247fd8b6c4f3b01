#include "rungs/sync_brackets.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <tuple>

namespace attune::sync_brackets_test {

using Place = SyncBrackets::Place;
using Promotes = SyncBrackets::Promotes;

// Brackets of 3, 1 at 1, 3, and of 2 at 3.
const std::vector<RungSizes> kSizes = {{{3, 1}, {1, 3}}, {{2, 3}}};

SyncBrackets small(Promotes promotes = Promotes::every_bracket) { return {kSizes, promotes}; }

Place take(SyncBrackets& brackets) {
  const auto place = brackets.take(true);
  REQUIRE(place);
  return *place;
}

// Trials 0, 1, 2 run in the first rung.
SyncBrackets filled(Promotes promotes = Promotes::every_bracket) {
  SyncBrackets brackets = small(promotes);
  for (TrialId trial = 0; trial < 3; ++trial) brackets.begin(trial, take(brackets));
  return brackets;
}

TEST_CASE("brackets: slots in order, then the next bracket, and again") {
  SyncBrackets brackets = small();
  CHECK_FALSE(brackets.take(false));
  CHECK(take(brackets) == Place{0, 0, 0});
  CHECK(take(brackets) == Place{0, 0, 1});
  CHECK(take(brackets) == Place{0, 0, 2});
  CHECK_FALSE(brackets.take(false));
  CHECK(take(brackets) == Place{1, 0, 0});
  CHECK(brackets.level({1, 0, 0}) == 3);
  CHECK(take(brackets) == Place{1, 0, 1});
  CHECK(take(brackets) == Place{2, 0, 0});
  brackets.give_back({0, 0, 1});
  CHECK(take(brackets) == Place{0, 0, 1});
}

std::vector<TrialId> trials_of(const std::vector<SyncBrackets::Full::Placed>& placed) {
  std::vector<TrialId> all;
  for (const auto& one : placed) all.push_back(one.trial);
  return all;
}

TEST_CASE("brackets: a trial that waits has a rank so far, and results are missing") {
  SyncBrackets brackets = filled();
  brackets.result(1, 0.5);
  CHECK_FALSE(brackets.filling(77));
  const auto alone = brackets.filling(1);
  REQUIRE(alone);
  CHECK(alone->level == 1);
  CHECK(std::tuple(alone->rank, alone->of, alone->missing) == std::tuple(1, 1, 2));
  brackets.result(0, 0.25);
  const auto second = brackets.filling(1);
  CHECK(std::tuple(second->rank, second->of, second->missing) == std::tuple(2, 2, 1));
  brackets.give_back(2, false);  // its slot is free again
  CHECK(brackets.filling(1)->missing == 1);

  SyncBrackets others = filled();
  others.result(0, NAN);
  others.result(1, 0.5);
  const auto left = others.filling(1);  // the one that has failed has no rank
  CHECK(std::tuple(left->rank, left->of, left->missing) == std::tuple(1, 1, 1));
}

TEST_CASE("brackets: a full rung lets the best go on") {
  SyncBrackets brackets = filled();
  CHECK_FALSE(brackets.result(1, 0.5));
  CHECK_FALSE(brackets.result(0, 0.75));
  CHECK(brackets.runs(2));
  CHECK_FALSE(brackets.runs(1));
  CHECK_FALSE(brackets.runs(77));
  const auto full = brackets.result(2, 0.25);
  REQUIRE(full);
  CHECK(full->level == 1);
  CHECK(full->results == 3);
  CHECK(trials_of(full->best) == std::vector<TrialId>{2});
  CHECK(full->best[0].rank == 1);
  REQUIRE(full->rest.size() == 2);
  CHECK(full->rest[0].trial == 1);
  CHECK(full->rest[0].rank == 2);
  CHECK(full->rest[1].loss == 0.75);
  CHECK(take(brackets) == Place{0, 1, 0});
  CHECK(brackets.trial_at({0, 1, 0}) == 2);
  CHECK(brackets.is_top({0, 1, 0}));
  brackets.begin(2, {0, 1, 0});
  const auto top = brackets.result(2, 0.125);
  REQUIRE(top);
  CHECK(top->best.empty());
  CHECK(top->rest.empty());
  CHECK(brackets.places().empty());
}

TEST_CASE("brackets: fewer results than slots make the next rung smaller") {
  SyncBrackets brackets({{{4, 1}, {2, 3}}}, Promotes::every_bracket);
  for (TrialId trial = 0; trial < 4; ++trial) brackets.begin(trial, take(brackets));
  for (const TrialId trial : {0, 1, 2}) brackets.result(trial, NAN);
  const auto full = brackets.result(3, 1);
  REQUIRE(full);
  CHECK(trials_of(full->best) == std::vector<TrialId>{3});
  CHECK(brackets.slots(0, 1) == 1);
  CHECK(take(brackets) == Place{0, 1, 0});
  CHECK(take(brackets) == Place{1, 0, 0});
}

TEST_CASE("brackets: without any result a bracket is over") {
  SyncBrackets brackets = filled();
  for (const TrialId trial : {0, 1}) CHECK_FALSE(brackets.result(trial, NAN));
  const auto full = brackets.result(2, NAN);
  REQUIRE(full);
  CHECK(full->results == 0);
  CHECK(take(brackets) == Place{1, 0, 0});
}

TEST_CASE("brackets: a trial that does not begin after all leaves its slot") {
  SyncBrackets brackets = filled();
  brackets.give_back(TrialId{1}, false);
  CHECK_FALSE(brackets.place_of(1));
  CHECK(take(brackets) == Place{0, 0, 1});
  CHECK_FALSE(brackets.trial_at({0, 0, 1}));
  brackets.begin(7, {0, 0, 1});
  for (const TrialId trial : {0, 7, 2}) brackets.result(trial, double(trial));
  // The promoted one waits again, and another trial takes its place.
  brackets.begin(0, take(brackets));
  brackets.give_back(TrialId{0}, true);
  CHECK_FALSE(brackets.runs(0));
  CHECK(brackets.take(true, false) == Place{0, 1, 0});
  CHECK(brackets.trial_at({0, 1, 0}) == 0);
  brackets.begin(8, {0, 1, 0});
  CHECK_FALSE(brackets.place_of(0));
  CHECK(brackets.runs(8));
}

TEST_CASE("brackets: of the free slots only those with a trial") {
  SyncBrackets brackets = filled();
  CHECK_FALSE(brackets.take(true, false));
  for (TrialId trial = 0; trial < 3; ++trial) brackets.result(trial, double(trial));
  CHECK(brackets.take(true, false) == Place{0, 1, 0});
}

TEST_CASE("brackets: a lost trial counts as failed, before its rung is full and after") {
  SyncBrackets brackets = filled();
  brackets.result(0, 0);
  CHECK_FALSE(brackets.lost(0));
  brackets.result(1, 1);
  const auto full = brackets.result(2, 2);
  REQUIRE(full);
  CHECK(trials_of(full->best) == std::vector<TrialId>{1});
  CHECK(full->results == 2);
  const auto over = brackets.lost(1);  // it was to go on alone
  REQUIRE(over);
  CHECK(over->results == 0);
  CHECK(brackets.places().empty());
}

TEST_CASE("brackets: without new configurations they shrink to what there is") {
  SyncBrackets brackets = small();
  brackets.begin(0, take(brackets));
  brackets.begin(1, take(brackets));
  SECTION("all run") { CHECK(brackets.vacate().empty()); }
  SECTION("one was given back") {
    brackets.give_back(TrialId{0}, false);
    CHECK(brackets.vacate().empty());
  }
  SECTION("none runs any more") {
    brackets.result(0, 0);
    brackets.result(1, 1);
    const auto full = brackets.vacate();
    REQUIRE(full.size() == 1);
    CHECK(trials_of(full[0].best) == std::vector<TrialId>{0});
    CHECK(brackets.take(false) == Place{0, 1, 0});
    return;
  }
  CHECK_FALSE(brackets.take(false));
  if (brackets.runs(0)) brackets.result(0, 0);
  const auto full = brackets.result(1, 1);
  REQUIRE(full);
  CHECK(full->best.size() == 1);
}

TEST_CASE("brackets: later ones do not promote if only the first one does") {
  SyncBrackets brackets = filled(Promotes::first_bracket);
  for (TrialId trial = 0; trial < 3; ++trial) brackets.result(trial, double(trial));
  CHECK(take(brackets) == Place{0, 1, 0});
  CHECK(brackets.trial_at({0, 1, 0}) == 0);
  for (int i = 0; i < 2; ++i) take(brackets);
  for (TrialId trial = 10; trial < 13; ++trial) brackets.begin(trial, take(brackets));
  CHECK_FALSE(brackets.standing({2, 0, 0}));
  brackets.result(10, 1);
  CHECK(brackets.standing({2, 0, 0})->trial == 10);
  brackets.result(11, NAN);
  CHECK_FALSE(brackets.standing({2, 0, 1}));
  const auto full = brackets.result(12, 5, SyncBrackets::Standing{2, 0.5});
  REQUIRE(full);
  CHECK(full->best.empty());
  CHECK(full->rest.empty());
  CHECK(brackets.standing({2, 0, 2})->trial == 2);
  CHECK(brackets.standing({2, 0, 2})->loss == 0.5);
  CHECK(take(brackets) == Place{2, 1, 0});
  CHECK_FALSE(brackets.trial_at({2, 1, 0}));
  CHECK(brackets.standing({0, 0, 2})->trial == 2);  // nothing is forgotten
  CHECK_FALSE(brackets.standing({9, 0, 0}));
  CHECK_FALSE(brackets.standing({0, 9, 0}));
  CHECK_FALSE(brackets.standing({0, 0, 9}));
}

TEST_CASE("brackets: saved and loaded, they are the same") {
  const Promotes promotes = GENERATE(Promotes::every_bracket, Promotes::first_bracket);
  SyncBrackets brackets = small(promotes);
  for (TrialId trial = 0; trial < 200; ++trial) {
    auto loaded = SyncBrackets::load(kSizes, promotes, brackets.save());
    if (!loaded) FAIL(loaded.error().message);
    CHECK(loaded->save().dump() == brackets.save().dump());
    brackets = *std::move(loaded);
    const Place place = take(brackets);
    const TrialId id = brackets.trial_at(place).value_or(trial);
    brackets.begin(id, place);
    if (trial % 5 == 3) brackets.give_back(id, brackets.trial_at(place).has_value());
    if (trial % 2 == 0 || brackets.places().size() < 4) continue;
    std::vector<TrialId> running;
    for (const auto& [other, at] : brackets.places()) {
      if (brackets.runs(other)) running.push_back(other);
    }
    if (running.empty()) continue;
    brackets.result(running[std::size_t(trial) % running.size()],
                    trial % 7 == 0 ? NAN : double(trial % 11));
  }
}

}  // namespace attune::sync_brackets_test
