// Several processes at one store: a killed one, many writers, readers beside a writer.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <optional>
#include <vector>

#include "manager/store/store.h"
#include "manager/store/store_reader.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::store_sharing_test {

TEST_CASE("store: what was committed survives kill -9, the rest never happened") {
  const TemporaryFolder folder;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Store store = begin_experiment(folder.path, "abcd2345");
    for (int i = 0; i < 100; ++i) {
      if (!store.add_trial(pending_trial(i), 1001)) ::_exit(1);
      if (i == 59 && !store.commit()) ::_exit(1);
    }
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  StoreReader reader = StoreReader::open(folder.path).value();
  CHECK(reader.tally(reader.find("").value())->pending == 60);
}

TEST_CASE("store: several managers write one file at once") {
  const TemporaryFolder folder;
  constexpr int kManagers = 4, kTrials = 50;
  std::vector<pid_t> children;
  for (int manager = 0; manager < kManagers; ++manager) {
    const pid_t child = ::fork();
    if (child == 0) {
      // All of them at once make the file, too.
      Store store = begin_experiment(folder.path, "manager" + std::to_string(manager));
      for (int i = 0; i < kTrials; ++i) {
        if (!store.add_trial(pending_trial(i), 1001) || !store.commit()) ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  CHECK(all_end_well(children));
  StoreReader reader = StoreReader::open(folder.path).value();
  const auto experiments = reader.experiments().value();
  CHECK(experiments.size() == kManagers);
  for (const StoredExperiment& experiment : experiments)
    CHECK(reader.tally(experiment)->pending == kTrials);
}

// Whoever closes it as the last one removes attune.sqlite-wal.
TEST_CASE("store: somebody who opens and closes it is not the last one") {
  const TemporaryFolder folder;
  const bool reads_too = GENERATE(false, true);  // as attune resume does
  CAPTURE(reads_too);
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    if (::read(ready[0], &byte, 1) != 1) ::_exit(1);
    const bool opened = Store::open(folder.path).has_value();
    ::_exit(opened ? 0 : 1);
  }
  {
    const Store made = begin_experiment(folder.path, "abcd2345");
  }
  std::optional<StoreReader> reader;
  if (reads_too) reader = StoreReader::open(folder.path).value();
  Store store = Store::open(folder.path).value();
  REQUIRE(store.resume("abcd2345", 1001).has_value());
  REQUIRE(::write(ready[1], "x", 1) == 1);
  CHECK(all_end_well({child}));
  CHECK(std::filesystem::exists(folder.path / "attune.sqlite-wal"));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("store: a reader does not wait for a transaction, nor it for a reader") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345");
  REQUIRE(store.add_trial(pending_trial(0), 1001).has_value());
  StoreReader reader = StoreReader::open(folder.path).value();
  const StoredExperiment experiment = reader.find("").value();
  CHECK(reader.tally(experiment)->pending == 0);
  REQUIRE(store.commit().has_value());
  REQUIRE(reader
              .trials(experiment, {},
                      [&](const TrialRecord&) {
                        CHECK(store.add_trial(pending_trial(1), 1001).has_value());
                        CHECK(store.commit().has_value());
                        return false;
                      })
              .has_value());
  CHECK(reader.tally(experiment)->pending == 2);
}

TEST_CASE("store: experiments are found by id, its beginning, name and folder") {
  const TemporaryFolder folder;
  {
    Store first = begin_experiment(folder.path, "abcd2345", "digits");
    Store second = begin_experiment(folder.path, "abxy2345", "digits");
    Store third = begin_experiment(folder.path, "mnop2345");
  }
  StoreReader reader = StoreReader::open(folder.path).value();
  CHECK(reader.find("")->id == "mnop2345");
  CHECK(reader.find("abx")->id == "abxy2345");
  CHECK(reader.find("digits")->id == "abxy2345");
  CHECK(reader.find("ab").error().message.find("several ids: abxy2345 (digits), abcd2345") !=
        std::string::npos);
  CHECK(reader.find("zz").error().message.find("there are: mnop2345") != std::string::npos);
  StoreReader inside = StoreReader::open(folder.path / "abcd2345").value();
  CHECK(inside.find("")->id == "abcd2345");
  CHECK(inside.find("mnop")->id == "mnop2345");
  const auto nowhere = StoreReader::open(folder.path / "nowhere");
  CHECK(nowhere.error().message.find("no experiments in") != std::string::npos);
}

}  // namespace attune::store_sharing_test
