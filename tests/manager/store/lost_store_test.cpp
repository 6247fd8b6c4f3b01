// attune.sqlite is deleted, moved or replaced while a manager has it open.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <vector>

#include "manager/store/experiment_lock.h"
#include "manager/store/store.h"
#include "manager/store/store_reader.h"
#include "manager/store/store_writer.h"
#include "os/clock.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::lost_store_test {

namespace fs = std::filesystem;

struct World {
  TemporaryFolder folder;
  fs::path file = folder.path / "attune.sqlite";
  Store store = patient(begin_experiment(folder.path, "abcd2345"));
  ManualClock clock{2000};
  StoreWriter writer{store, clock};

  static Store patient(Store store) {
    store.be_patient();
    return store;
  }
  void add(int first, int last) {
    for (int i = first; i < last; ++i) {
      const TrialRecord trial = pending_trial(i);
      writer.add_trial(trial);
      writer.add_decision({trial.job_id, "stop", "user", "why"});
      writer.add_report(trial, report_of(trial, 0, 0.5, 10), {});
    }
  }
  std::int64_t pending() const {
    StoreReader reader = StoreReader::open(folder.path).value();
    return reader.tally(reader.find("abcd2345").value())->pending;
  }
};

TEST_CASE("lost store: a deleted one is written anew with all that it held") {
  World world;
  world.add(0, 50);
  REQUIRE(world.writer.commit().has_value());
  const bool side_files_too = GENERATE(true, false);
  fs::remove(world.file);
  if (side_files_too) {
    fs::remove(world.file.string() + "-wal");
    fs::remove(world.file.string() + "-shm");
  }
  world.add(50, 60);
  const auto kept = world.writer.commit();
  REQUIRE(kept.has_value());
  CHECK(kept->trouble.empty());
  CHECK(kept->notice.find("written anew") != std::string::npos);
  CHECK(world.pending() == 60);
  // And on it goes, without more ado.
  world.add(60, 61);
  CHECK(world.writer.commit()->notice.empty());
  CHECK(world.pending() == 61);
  StoreReader reader = StoreReader::open(world.folder.path).value();
  const StoredTrial trial = reader.whole_trial(reader.find("").value(), "t0007").value();
  CHECK(trial.reports.size() == 1);
  CHECK(trial.decisions.size() == 1);
}

TEST_CASE("lost store: how it ended is kept though nothing came after the loss") {
  World world;
  world.add(0, 5);
  REQUIRE(world.writer.commit().has_value());
  fs::remove(world.file);
  world.writer.end({ExperimentEnd::Kind::completed, "all done"});
  CHECK(world.writer.end_result().has_value());
  CHECK(world.pending() == 5);
  StoreReader reader = StoreReader::open(world.folder.path).value();
  CHECK(reader.find("")->status == ExperimentStatus::completed);
}

TEST_CASE("lost store: the folder with everything in it was moved") {
  World world;
  world.add(0, 5);
  REQUIRE(world.writer.commit().has_value());
  ExperimentLock lock = ExperimentLock::take(world.folder.path / "abcd2345").value();
  world.store.keep_folder([&] { return lock.renew(world.folder.path / "abcd2345"); });
  const fs::path away = world.folder.path.string() + "-away";
  fs::rename(world.folder.path, away);
  world.add(5, 6);
  CHECK(world.writer.commit()->trouble.empty());
  CHECK(world.pending() == 6);
  CHECK(StoreReader::open(world.folder.path / "abcd2345").has_value());
  CHECK(ExperimentLock::is_held(world.folder.path / "abcd2345"));
  fs::remove_all(away);
}

TEST_CASE("lost store: the folder of the experiment alone was removed") {
  World world;
  const fs::path directory = world.folder.path / "abcd2345";
  ExperimentLock lock = ExperimentLock::take(directory).value();
  world.store.keep_folder([&] { return lock.renew(directory); });
  REQUIRE(world.writer.commit().has_value());
  fs::remove_all(directory);
  std::ofstream(directory) << "in its place";
  world.clock.advance(1);
  world.add(0, 1);
  CHECK_FALSE(world.writer.commit()->trouble.empty());
  fs::remove(directory);
  CHECK(world.writer.commit()->trouble.empty());
  CHECK(world.pending() == 1);
  CHECK(ExperimentLock::is_held(directory));
  CHECK(StoreReader::open(directory).has_value());
}

TEST_CASE("lost store: an older copy in its place gets what it lacks") {
  World world;
  world.add(0, 5);
  REQUIRE(world.writer.commit().has_value());
  const fs::path old = world.folder.path / "old";
  fs::create_directory(old);
  {
    Store other = begin_experiment(old, "abcd2345");
    Store second = begin_experiment(old, "wxyz2345");
    REQUIRE(second.add_trial(pending_trial(0), 1001).has_value());
    REQUIRE(second.add_event({EventKind::notice, "of another one"}, 1001).has_value());
    REQUIRE(second.commit().has_value());
  }
  fs::rename(old / "attune.sqlite", world.file);
  world.add(5, 6);
  CHECK(world.writer.commit()->trouble.empty());
  CHECK(world.pending() == 6);
  StoreReader reader = StoreReader::open(world.folder.path).value();
  const StoredExperiment other = reader.find("wxyz2345").value();
  CHECK(reader.tally(other)->pending == 1);
  CHECK(reader.events(other, 9)->size() == 1);
}

TEST_CASE("lost store: two managers of one file both find their experiments again") {
  World world;
  Store second = World::patient(begin_experiment(world.folder.path, "wxyz2345"));
  world.add(0, 5);
  REQUIRE(world.writer.commit().has_value());
  REQUIRE(second.add_trial(pending_trial(0), 1001).has_value());
  REQUIRE(second.commit().has_value());
  fs::remove(world.file);
  world.add(5, 6);
  CHECK(world.writer.commit()->trouble.empty());
  REQUIRE(second.add_trial(pending_trial(1), 1001).has_value());
  REQUIRE(second.commit().has_value());
  world.add(6, 7);
  CHECK(world.writer.commit()->trouble.empty());
  CHECK(world.pending() == 7);
  StoreReader reader = StoreReader::open(world.folder.path).value();
  CHECK(reader.tally(reader.find("wxyz2345").value())->pending == 2);
}

TEST_CASE("lost store: managers that write it anew at the same moment take turns") {
  const TemporaryFolder folder;
  constexpr int kManagers = 8;
  int ready[2], go[2];
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(go) == 0);
  std::vector<pid_t> children;
  for (int manager = 0; manager < kManagers; ++manager) {
    const pid_t child = ::fork();
    if (child == 0) {
      Store store =
          World::patient(begin_experiment(folder.path, "manager" + std::to_string(manager)));
      char byte = 0;
      if (::write(ready[1], "x", 1) != 1 || ::read(go[0], &byte, 1) != 1) ::_exit(1);
      const bool added = store.add_trial(pending_trial(0), 1001).has_value();
      bool kept = store.commit().has_value();
      while (!kept && store.stalled()) kept = store.commit().has_value();  // as a manager does
      ::_exit(added && kept ? 0 : 2);
    }
    children.push_back(child);
  }
  char bytes[kManagers];
  for (char& byte : bytes) REQUIRE(::read(ready[0], &byte, 1) == 1);
  fs::remove(folder.path / "attune.sqlite");
  REQUIRE(::write(go[1], bytes, kManagers) == kManagers);
  CHECK(all_end_well(children));
  StoreReader reader = StoreReader::open(folder.path).value();
  const auto experiments = reader.experiments().value();
  CHECK(experiments.size() == kManagers);
  for (const StoredExperiment& each : experiments) CHECK(reader.tally(each)->pending == 1);
  for (const int fd : {ready[0], ready[1], go[0], go[1]}) ::close(fd);
}

TEST_CASE("lost store: whoever holds the folder does not hold up the manager for ever") {
  World world;
  world.store.be_patient(0);
  world.add(0, 5);
  REQUIRE(world.writer.commit().has_value());
  fs::remove(world.file);
  world.add(5, 6);
  {
    const UniqueFd folder(::open(world.folder.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(::flock(folder.get(), LOCK_EX) == 0);
    const auto kept = world.writer.commit();
    REQUIRE(kept.has_value());
    CHECK(kept->trouble.find("another process sets up the store") != std::string::npos);
  }
  CHECK(world.writer.commit()->trouble.empty());
  CHECK(world.pending() == 6);
}

TEST_CASE("lost store: what cannot be written anew waits until it can") {
  World world;
  world.add(0, 5);
  REQUIRE(world.writer.commit().has_value());
  for (const char* ending : {"", "-wal", "-shm"}) fs::remove(world.file.string() + ending);
  const bool stranger = GENERATE(true, false);
  if (stranger) {
    Store other = begin_experiment(world.folder.path, "wxyz2345");  // takes its number, too
  } else {
    fs::create_directory(world.file);
  }
  world.add(5, 6);
  for (int i = 0; i < 2; ++i) {
    const auto kept = world.writer.commit();
    REQUIRE(kept.has_value());
    CAPTURE(kept->trouble);
    CHECK(kept->trouble.find(world.file.string()) != std::string::npos);
    CHECK(world.store.stalled());
  }
  fs::rename(world.file, world.folder.path / "elsewhere");
  CHECK(world.writer.commit()->trouble.empty());
  CHECK(world.pending() == 6);
}

}  // namespace attune::lost_store_test
