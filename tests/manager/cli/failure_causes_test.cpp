// Why trials failed: from the store, and from what they have written.
#include "manager/cli/commands/failure_causes.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "manager/cli/commands/shell_words.h"
#include "manager/store/store.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::failure_causes_test {

namespace fs = std::filesystem;

class World {
 public:
  World() : store(begin_experiment(folder.path, "abcd2345")) {}

  fs::path directory() const { return folder.path / "abcd2345"; }
  fs::path stderr_of(std::int64_t trial) const {
    fs::create_directories(directory() / "trials" / job_id_of(trial));
    return directory() / "trials" / job_id_of(trial) / "stderr";
  }
  void fail(std::int64_t sequence, Ending ending, const std::string& detail,
            const std::string& said) {
    TrialRecord trial = pending_trial(sequence);
    store.add_trial(trial, 1001).value();
    trial.status = TrialStatus::failed;
    trial.attempts = 1;
    trial.reason = detail;
    store.add_attempt(trial, "", 1002).value();
    store.end_attempt(trial, {trial.job_id, ending, detail, 1003, 0, 0}).value();
    store.change_trial(trial).value();
    std::ofstream(stderr_of(sequence)) << said;
  }
  std::vector<FailureCause> causes() {
    store.commit().value();
    StoreReader reader = StoreReader::open(folder.path).value();
    experiment = reader.find("").value();
    return failure_causes(reader, experiment).value();
  }

  TemporaryFolder folder;
  Store store;
  StoredExperiment experiment;
};

TEST_CASE("failure causes: by how trials ended, and their last line") {
  World world;
  CHECK(world.causes().empty());
  CHECK(failure_causes_text({}, world.experiment).empty());
  for (const int i : {0, 1, 2})
    world.fail(i, Ending::failed, "exit code 1", "step 7\nno module named torch\n\n  \n");
  world.fail(3, Ending::failed, "exit code 1", "the disk is full");
  world.fail(4, Ending::failed, "exit code 3", "the disk is full");
  world.fail(5, Ending::failed, "exit code 3", "the disk is full\r\n");
  world.fail(6, Ending::signalled, "killed by signal 11 (Segmentation fault)", "");
  const auto causes = world.causes();
  REQUIRE(causes.size() == kMostCauses);
  CHECK(failure_causes_json(causes).dump() ==
        R"([{"count":3,"ending":"failed","detail":"exit code 1",)"
        R"("last_line":"no module named torch","trial_job_id":"t0002"},)"
        R"({"count":2,"ending":"failed","detail":"exit code 3",)"
        R"("last_line":"the disk is full","trial_job_id":"t0005"},)"
        R"({"count":1,"ending":"failed","detail":"exit code 1",)"
        R"("last_line":"the disk is full","trial_job_id":"t0003"}])");
  const std::string where = "--dir " + shell_word(world.directory().string());
  CHECK(failure_causes_text(causes, world.experiment) ==
        "Commonest failures:\n"
        " - 3 trials: exit code 1: no module named torch\n   attune logs t0002 --stderr " +
            where + "\n - 2 trials: exit code 3: the disk is full\n   attune logs t0005 --stderr " +
            where + "\n - 1 trial: exit code 1: the disk is full\n   attune logs t0003 --stderr " +
            where + "\n");
}

TEST_CASE("failure causes: of many trials the newest are looked at, and all are counted") {
  World world;
  constexpr std::int64_t kMany = 3 * kTrialsOfEnd;
  for (std::int64_t i = 0; i < kMany; ++i)
    world.fail(i, Ending::failed, "exit code 1", i < kMany * 2 / 3 ? "long ago" : "now");
  fs::remove(world.stderr_of(0));
  const auto causes = world.causes();
  REQUIRE(causes.size() == 1);
  CHECK(causes[0].count == kMany);
  CHECK(causes[0].last_line == "now");
}

TEST_CASE("failure causes: what trials write cannot harm a terminal, nor is all of it read") {
  World world;
  std::string expected;
  SECTION("colours and other control characters") {
    world.fail(0, Ending::failed, "exit code 1", "\x1b[31;1mError\x1b[0m:\tbad\a\x1b]0;title");
    expected = "Error: bad\\x07\\x1b]0;title";
  }
  SECTION("a long file, and a long line") {
    world.fail(0, Ending::failed, "exit code 1", "first\n" + std::string(100'000, 'x'));
    expected = std::string(200, 'x');
  }
  SECTION("a FIFO, and a link to a file of somebody else's") {
    world.fail(0, Ending::failed, "exit code 1", "");
    fs::remove(world.stderr_of(0));
    if (GENERATE(true, false)) {
      REQUIRE(::mkfifo(world.stderr_of(0).c_str(), 0600) == 0);
    } else {
      fs::create_symlink("/etc/passwd", world.stderr_of(0));
    }
  }
  SECTION("a trial that was never started") {
    TrialRecord trial = pending_trial(0);
    world.store.add_trial(trial, 1001).value();
    trial.status = TrialStatus::failed;
    trial.reason = "it could not be started";
    world.store.change_trial(trial).value();
    const auto causes = world.causes();
    REQUIRE(causes.size() == 1);
    CHECK_FALSE(causes[0].ending.has_value());
    CHECK(causes[0].detail == "it could not be started");
  }
  const auto causes = world.causes();
  REQUIRE(causes.size() == 1);
  CHECK(causes[0].last_line == expected);
}

}  // namespace attune::failure_causes_test
