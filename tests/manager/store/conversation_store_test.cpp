// The outbox in the store, stores from before there was one, and disks that are full for a while.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "manager/store/schema.h"
#include "manager/store/store_outbox.h"
#include "manager/store/store_reader.h"
#include "manager/store/store_writer.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::conversation_store_test {

using Commands = std::vector<std::pair<std::uint64_t, Frame>>;

// As a manager that starts now would find it.
std::optional<StoredConversation> found(const TemporaryFolder& folder) {
  StoreReader reader = StoreReader::open(folder.path).value();
  return reader.conversation(reader.find("").value()).value();
}

TEST_CASE("outbox: kept together with what it comes with, or not at all") {
  const TemporaryFolder folder;
  const Frame first{"GE", "2"}, second{"ME", "any \xff bytes, and \"quotes\""};
  {
    Store store = begin_experiment(folder.path, "abcd2345");
    StoreOutbox outbox(store);
    int commits = 0;
    outbox.on_commit([&] { ++commits; });
    CHECK_FALSE(found(folder).has_value());
    outbox.append(1, first);
    outbox.append(2, second);
    outbox.set_counts({2, 0, 7});
    CHECK_FALSE(found(folder).has_value());
    REQUIRE(store.commit().has_value());
    CHECK(commits == 1);
    CHECK(found(folder)->outbox.counts == Outbox::Counts{2, 0, 7});
    CHECK(found(folder)->outbox.commands == Commands{{1, first}, {2, second}});
    outbox.set_counts({2, 0, 8});  // of its own a reason to commit
    REQUIRE(store.commit().has_value());
    REQUIRE(store.commit().has_value());
    CHECK(commits == 2);
    CHECK(found(folder)->outbox.counts.answers == 8);
    outbox.drop(1, 1);
    outbox.set_counts({2, 1, 8});
    REQUIRE(store.commit().has_value());
    CHECK(found(folder)->outbox.commands == Commands{{2, second}});
    outbox.append(3, first);  // and the manager is killed
  }
  Store store = Store::open(folder.path).value();
  REQUIRE(store.resume("abcd2345", 2000).has_value());
  CHECK(found(folder)->outbox.counts == Outbox::Counts{2, 1, 8});
  StoreOutbox outbox(store);
  outbox.forget();
  REQUIRE(store.commit().has_value());
  CHECK_FALSE(found(folder).has_value());
}

TEST_CASE("outbox: what the manager remembers stays until the next one says otherwise") {
  const TemporaryFolder folder;
  const ManualClock clock(2000);
  RunnerState state;
  state.requests = {2, 1};
  state.exhausted = true;
  state.declined = 3;
  state.saving = {"t0001-2", "t0002-1"};
  state.answers = {"t0002-1"};
  state.held = {"t0001-1"};
  state.deleting = {"t0001-0"};
  state.releasing = {"t0003"};
  state.best = 0.1 + 0.2;
  state.since_best = 4;
  {
    Store store = begin_experiment(folder.path, "abcd2345");
    StoreWriter writer(store, clock);
    writer.set_state(state);
    REQUIRE(writer.commit().has_value());
    CHECK_FALSE(
        found(folder).has_value());  // without a conversation there is nothing to go on with
    StoreOutbox(store).set_counts({0, 0, 0});
    REQUIRE(writer.commit().has_value());
    CHECK(found(folder)->manager == state);
  }
  Store store = Store::open(folder.path).value();
  REQUIRE(store.resume("abcd2345", 2000).has_value());
  StoreOutbox(store).set_counts({0, 0, 1});
  REQUIRE(store.commit().has_value());
  CHECK(found(folder)->manager == state);
}

TEST_CASE("outbox: a damaged one is an error, no guess") {
  const TemporaryFolder folder;
  {
    Store store = begin_experiment(folder.path, "abcd2345");
    StoreOutbox outbox(store);
    for (std::uint64_t number = 1; number <= 3; ++number) outbox.append(number, {"GE", "1"});
    outbox.set_counts({3, 0, 0});
    REQUIRE(store.commit().has_value());
  }
  const std::string change =
      GENERATE("DELETE FROM outbox WHERE number = 2", "DELETE FROM outbox WHERE number = 3",
               "UPDATE conversations SET manager = '{\"requests\": [\"x\"]}'",
               "UPDATE conversations SET manager = ''");
  CAPTURE(change);
  {
    Database database = open_for_writing(folder.path, schema_steps(), 1).value();
    REQUIRE(database.execute(change).has_value());
  }
  StoreReader reader = StoreReader::open(folder.path).value();
  const auto conversation = reader.conversation(reader.find("").value());
  REQUIRE_FALSE(conversation.has_value());
  CHECK(conversation.error().message.find("is damaged") != std::string::npos);
}

TEST_CASE("schema: a store from before there were conversations is brought up to date") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path / "abcd2345");
  {
    Database database = open_for_writing(folder.path, schema_steps().first(1), 1).value();
    REQUIRE(
        database
            .execute("INSERT INTO experiments (id, name, directory, status, objective, "
                     "maximize, seed, file, manager_pid, manager_started_at, started_at) VALUES "
                     "('abcd2345', '', '/nowhere', 'failed', 'default', 0, 1, '{}', 1, 1, 1)")
            .has_value());
    CHECK(database.integer("PRAGMA user_version").value() == 1);
  }
  CHECK(StoreReader::open(folder.path).error().message.find("older attune") != std::string::npos);
  Store store = Store::open(folder.path).value();
  REQUIRE(store.resume("abcd2345", 2000).has_value());
  CHECK_FALSE(found(folder).has_value());
  StoreOutbox outbox(store);
  outbox.append(1, {"GE", "1"});
  outbox.set_counts({1, 0, 0});
  REQUIRE(store.commit().has_value());
  CHECK(found(folder)->outbox.commands.size() == 1);
}

// A disk on which no file may grow beyond `bytes`.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    before_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    rlimit lower = limit_;
    lower.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    ::signal(SIGXFSZ, before_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit limit_{};
  sighandler_t before_;
};

TEST_CASE("store: with patience nothing is lost while the disk is full") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345");
  store.be_patient();
  const ManualClock clock(2000);
  StoreWriter writer(store, clock);
  StoreOutbox outbox(store);
  int commits = 0;
  outbox.on_commit([&] { ++commits; });
  constexpr int kTrials = 60;
  TrialRecord ended;
  {
    const FullDisk full(8 << 10);
    for (int i = 0; i < kTrials; ++i) {
      TrialRecord trial = pending_trial(i);
      trial.proposed.text = std::string(10'000, 'x');  // more than SQLite keeps to itself
      writer.add_trial(trial);
      outbox.append(static_cast<std::uint64_t>(i) + 1, {"GE", "1"});
      outbox.set_counts({static_cast<std::uint64_t>(i) + 1, 0, 0});
      trial.status = TrialStatus::running;
      trial.attempts = 1;
      const auto kept = writer.begin_attempt(trial, "");
      REQUIRE(kept.has_value());
      CHECK(kept->trouble.find("attune.sqlite") != std::string::npos);
      ended = trial;
    }
    CHECK(store.stalled());
    CHECK(commits == 0);
    // Of one that has ended meanwhile something more is said, and the file knows nothing of it.
    ended.status = TrialStatus::failed;
    writer.change_trial(ended);
    writer.add_decision({ended.job_id, "stop", "user", "too late"});
    CHECK_FALSE(found(folder).has_value());
  }
  const auto kept = writer.commit();
  REQUIRE(kept.has_value());
  CHECK(kept->trouble.empty());
  CHECK_FALSE(store.stalled());
  CHECK(commits == 1);
  StoreReader reader = StoreReader::open(folder.path).value();
  const StoredExperiment experiment = reader.find("").value();
  CHECK(reader.tally(experiment)->running == kTrials - 1);
  CHECK(reader.tally(experiment)->failed == 1);
  CHECK(reader.whole_trial(experiment, ended.job_id)->decisions.size() == 1);
  CHECK(found(folder)->outbox.commands.size() == kTrials);
  // And on it goes.
  writer.add_event({EventKind::notice, "it can be written again"});
  REQUIRE(writer.commit()->trouble.empty());
  CHECK(reader.events(experiment, 9)->size() == 1);
}

TEST_CASE("store: with patience nothing is lost while another process writes") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345");
  store.be_patient(0);
  const ManualClock clock(2000);
  StoreWriter writer(store, clock);
  Database other = open_for_writing(folder.path, schema_steps(), 0).value();
  REQUIRE(other.execute("BEGIN IMMEDIATE"));
  writer.add_trial(pending_trial(0));
  writer.add_trial(pending_trial(1));
  for (int i = 0; i < 3; ++i) {
    const auto kept = writer.commit();
    REQUIRE(kept.has_value());
    CHECK(kept->trouble.find("another process holds it") != std::string::npos);
    CHECK(store.stalled());
  }
  writer.add_trial(pending_trial(2));
  REQUIRE(other.execute("COMMIT"));
  const auto kept = writer.commit();
  REQUIRE(kept.has_value());
  CHECK(kept->trouble.empty());
  StoreReader reader = StoreReader::open(folder.path).value();
  CHECK(reader.tally(reader.find("").value())->pending == 3);
}

TEST_CASE("store: how it ended may be missing where all that happened is stored") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345");
  store.be_patient();
  const ManualClock clock(2000);
  StoreWriter writer(store, clock);
  TrialRecord trial = pending_trial(0);
  writer.add_trial(trial);
  const bool all = GENERATE(true, false);
  if (all) REQUIRE(writer.commit()->trouble.empty());
  {
    const FullDisk full(8 << 10);
    writer.end({ExperimentEnd::Kind::completed, "all done"});
  }
  CHECK(writer.stored().has_value() == all);
  CHECK_FALSE(writer.end_result().has_value());
}

TEST_CASE("store: without patience the first failure is for good") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345");
  {
    const FullDisk full(8 << 10);
    TrialRecord trial = pending_trial(0);
    trial.proposed.text = std::string(100'000, 'x');
    std::ignore = store.add_trial(trial, 1001);
    CHECK_FALSE(store.commit().has_value());
    CHECK_FALSE(store.stalled());
  }
  CHECK_FALSE(store.commit().has_value());
  // But how it ended is written.
  CHECK(store.end({ExperimentEnd::Kind::failed, "the disk was full"}, 1002, 2).has_value());
  StoreReader reader = StoreReader::open(folder.path).value();
  CHECK(reader.find("")->status == ExperimentStatus::failed);
  CHECK(reader.tally(reader.find("").value())->added() == 0);
}

TEST_CASE("store: its files are for their owner, and no link is followed") {
  const TemporaryFolder folder;
  {
    Store store = begin_experiment(folder.path / "new", "abcd2345");
    REQUIRE(store.add_event({EventKind::notice, "x"}, 1).has_value());
    REQUIRE(store.commit().has_value());
    for (const char* name : {"attune.sqlite", "attune.sqlite-wal", "attune.sqlite-shm"}) {
      struct stat status{};
      CAPTURE(name);
      REQUIRE(::stat((folder.path / "new" / name).c_str(), &status) == 0);
      CHECK((status.st_mode & 0777) == 0600);
    }
  }
  std::filesystem::create_directories(folder.path / "other");
  std::filesystem::create_symlink(folder.path / "new" / kStoreFile,
                                  folder.path / "other" / kStoreFile);
  const auto opened = Store::open(folder.path / "other");
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().message.find("no regular file") != std::string::npos);
}

}  // namespace attune::conversation_store_test
