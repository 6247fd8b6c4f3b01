#include "manager/trials/checkpoint_desk.h"

#include <catch2/catch.hpp>

#include "tests/manager/trials/scripted_world.h"

namespace attune::checkpoint_desk_test {

using Ids = std::vector<std::string>;

// Keeps the newest checkpoint of each trial; tries each 2 s, for 10 s, where there is no room.
struct Desk {
  Desk() {
    trial.record.job_id = "t0001";
    trial.record.status = TrialStatus::running;
    trial.steps.begin({});
    backend.saves_at_once = false;  // tests say when
  }
  CheckpointDesk::Answer stored(const std::string& id, LiveTrial* of, bool ending = false) {
    return desk.stored({.job_id = "t0001", .checkpoint = id, .bytes = 10, .error = ""}, of, ending);
  }
  CheckpointDesk::Answer no_room(const std::string& id, LiveTrial* of, bool ending = false) {
    CheckpointStored saved{.job_id = "t0001", .checkpoint = id, .bytes = 0, .error = "disk full"};
    saved.no_room = true;
    return desk.stored(saved, of, ending);
  }
  Ids deleted() {
    desk.delete_dropped();
    return std::exchange(backend.deleted, {});
  }

  ManualClock clock;
  Notes notes;
  FakeBackend backend;
  Announcer announcer{notes, notes, Log()};
  CheckpointDesk desk{
      {.rules = {}, .retry_seconds = 2, .patience_seconds = 10}, backend, notes, announcer, clock};
  LiveTrial trial;
};

TEST_CASE("checkpoint desk: a newer checkpoint replaces the older one, once it is stored") {
  Desk d;
  const std::string first = d.desk.save(d.trial);
  CHECK(d.desk.busy());
  CHECK(d.stored(first, &d.trial).settled);
  CHECK_FALSE(d.desk.busy());
  CHECK(d.trial.record.checkpoint == first);
  const std::string second = d.desk.save(d.trial);
  CHECK(d.deleted().empty());
  d.stored(second, &d.trial);
  CHECK(d.backend.deleted.empty());  // a later manager must know first
  CHECK(d.deleted() == Ids{first});
}

TEST_CASE("checkpoint desk: a later manager deletes what this one had no time for") {
  Desk d;
  d.stored(d.desk.save(d.trial), &d.trial);
  d.stored(d.desk.save(d.trial), &d.trial);
  d.backend.unfinished = {.checkpoints = {"t0000-1"}, .trials = {"t0000"}};
  RunnerState state;
  d.desk.save_state(state);
  CHECK(state.deleting == Ids{"t0000-1", "t0001-1"});
  CHECK(state.releasing == Ids{"t0000"});
  Desk later;
  later.desk.delete_again(state);
  CHECK(later.backend.deleted == state.deleting);
  CHECK(later.backend.released == state.releasing);
}

TEST_CASE("checkpoint desk: the decider hears of those that it waits for, once") {
  Desk d;
  const std::string id = d.desk.save(d.trial);
  d.desk.decider_waits_for(id);
  RunnerState state;
  d.desk.save_state(state);
  CHECK(state.saving == Ids{id});
  CHECK(state.answers == Ids{id});
  CHECK(d.stored(id, &d.trial).decider_waits);
  CHECK_FALSE(d.stored(id, &d.trial).decider_waits);
}

TEST_CASE("checkpoint desk: nobody deletes what a start waits for") {
  Desk d;
  const std::string first = d.desk.save(d.trial);
  d.stored(first, &d.trial);
  // What the attempt before was saving comes late.
  const std::string second = d.desk.save(d.trial);
  d.trial.record.status = TrialStatus::pending;
  d.desk.start_from(d.trial, first);
  d.stored(second, &d.trial);
  CHECK(d.deleted().empty());
  SECTION("until it starts from another one") {
    d.desk.start_from(d.trial, "");
    CHECK(d.deleted() == Ids{first});
  }
  SECTION("until the attempt that has started has saved one") {
    const std::string third = d.desk.save(d.trial);
    ++d.trial.record.attempts;
    d.trial.record.status = TrialStatus::running;
    d.stored(third, &d.trial);
    CHECK(d.deleted() == Ids{second});
    CHECK(d.trial.resumes_from() == first);
    d.stored(d.desk.save(d.trial), &d.trial);
    CHECK(d.deleted() == Ids{first, third});
    CHECK(d.trial.resumes_from() == d.trial.record.checkpoint);
  }
}

TEST_CASE("checkpoint desk: a paused trial's files wait for room, a running trial's do not") {
  Desk d;
  CHECK(d.no_room(d.desk.save(d.trial), &d.trial).settled);
  d.trial.record.status = TrialStatus::paused;
  const std::string id = d.trial.pausing = d.desk.save(d.trial);
  CHECK_FALSE(d.no_room(id, &d.trial).settled);
  CHECK(d.desk.only_waits_for_room());
  CHECK(d.desk.next_retry() == d.clock.now() + 2);
  d.backend.saves.clear();
  d.desk.retry(d.clock.now());
  CHECK(d.backend.saves.empty());
  d.clock.advance(2);
  d.desk.retry(d.clock.now());
  CHECK(d.backend.saves == Ids{id});
  CHECK_FALSE(d.desk.only_waits_for_room());
  d.clock.advance(8);
  CHECK(d.no_room(id, &d.trial).settled);  // patience is over
  CHECK(d.notes.warnings.size() == 1);
}

TEST_CASE("checkpoint desk: a trial that has ended is let go after its last checkpoint") {
  Desk d;
  const std::string id = d.desk.save(d.trial);
  d.desk.ended("t0001", d.trial);
  CHECK(d.backend.released.empty());
  d.stored(id, nullptr);
  CHECK(d.backend.released == Ids{"t0001"});
}

TEST_CASE("checkpoint desk: what an earlier manager was saving is deleted, and its id not used") {
  Desk d;
  CHECK(d.desk.discard_unfinished({"t0001-1", "t0001-2", "t0003-1"}) == Ids{"t0001", "t0003"});
  CHECK(d.backend.deleted == Ids{"t0001-1", "t0001-2", "t0003-1"});
  CHECK(d.desk.save(d.trial) == "t0001-3");
}

}  // namespace attune::checkpoint_desk_test
