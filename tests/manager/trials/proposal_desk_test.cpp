#include "manager/trials/proposal_desk.h"

#include <catch2/catch.hpp>

namespace attune::proposal_desk_test {

TEST_CASE("proposal desk: proposals and refusals belong to the oldest request") {
  ProposalDesk desk(600);
  CHECK_FALSE(desk.open());
  desk.asked(2);
  desk.asked(3);
  CHECK(desk.unanswered() == 5);
  desk.proposed();
  CHECK(desk.unanswered() == 4);
  desk.exhausted();  // the first one, which lacked one more
  CHECK(desk.unanswered() == 3);
  CHECK(desk.is_exhausted());
  desk.may_have_more();
  CHECK_FALSE(desk.is_exhausted());
  for (int i = 0; i < 3; ++i) desk.proposed();
  CHECK_FALSE(desk.open());
}

TEST_CASE("proposal desk: answers without a request change nothing") {
  ProposalDesk desk(600);
  desk.proposed();
  desk.exhausted();
  CHECK(desk.unanswered() == 0);
}

TEST_CASE("proposal desk: only a request that nothing else keeps busy has a deadline") {
  ProposalDesk desk(600);
  desk.wait(true, 5);
  CHECK_FALSE(desk.deadline());  // nothing is asked for
  desk.asked(1);
  desk.wait(false, 5);
  CHECK_FALSE(desk.deadline());  // a trial runs
  desk.wait(true, 7);
  desk.wait(true, 9);
  CHECK(desk.deadline() == 607);
  CHECK(desk.postpone());
  CHECK_FALSE(desk.postpone());
  desk.wait(true, 10);
  CHECK_FALSE(desk.deadline());  // the tuner has said that it takes long
  CHECK(desk.proposes_again());
  CHECK_FALSE(desk.proposes_again());
  desk.wait(true, 20);
  CHECK(desk.deadline() == 620);
}

TEST_CASE("proposal desk: too many new trials in a row, where only paused ones may go on") {
  ProposalDesk desk(600);
  for (int i = 1; i < ProposalDesk::kMostDeclined; ++i) desk.declined();
  CHECK_FALSE(desk.is_exhausted());
  desk.resumed();
  desk.declined();
  CHECK_FALSE(desk.is_exhausted());
  for (int i = 1; i < ProposalDesk::kMostDeclined; ++i) desk.declined();
  CHECK(desk.is_exhausted());
}

TEST_CASE("proposal desk: another one goes on from its state") {
  ProposalDesk desk(600);
  desk.asked(2);
  desk.asked(4);
  desk.proposed();
  desk.declined();
  RunnerState state;
  desk.save(state);
  ProposalDesk next(600);
  next.restore(state);
  RunnerState again;
  next.save(again);
  CHECK(again == state);
  CHECK(next.unanswered() == 5);
  next.forget();
  CHECK_FALSE(next.open());
}

}  // namespace attune::proposal_desk_test
