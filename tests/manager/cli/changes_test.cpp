// Experiments are renamed and deleted, and nothing else is.
#include "manager/cli/commands/changes.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "manager/store/experiment_lock.h"
#include "manager/store/store_reader.h"
#include "os/unique_fd.h"
#include "tests/manager/cli/printed.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::changes_test {

namespace fs = std::filesystem;

class World {
 public:
  World() {
    begin("abcd2345", "digits");
    begin("efgh2345", "other");
    std::ofstream(folder.path / "precious") << "x";
  }

  // One that has ended, with a trial that has written files.
  void begin(const std::string& id, const std::string& name) const {
    Store store = begin_experiment(folder.path, id, name);
    const TrialRecord trial = pending_trial(0);
    store.add_trial(trial, 1001).value();
    store.add_report(trial, report_of(trial, 0, 0.5, 40), {}).value();
    store.add_event({EventKind::warning, "x"}, 1001).value();
    store.commit().value();
    store.end({ExperimentEnd::Kind::completed, "done"}, 1002, 2).value();
    fs::create_directories(at(id) / "trials/t0000/deep");
    fs::create_directories(at(id) / "log");
    std::ofstream(at(id) / "trials/t0000/deep/file") << "x";
  }
  fs::path at(const std::string& id) const { return folder.path / id; }
  std::vector<std::string> ids() const {
    std::vector<std::string> found;
    StoreReader reader = StoreReader::open(folder.path).value();
    const std::vector<StoredExperiment> all = reader.experiments().value();
    for (const StoredExperiment& each : all) found.push_back(each.id);
    return found;
  }

  DeleteOptions deleting(std::vector<std::string> which) const {
    DeleteOptions options;
    options.directory = folder.path.string();
    options.experiments = std::move(which);
    options.yes = true;
    return options;
  }
  // What keeps it from being deleted; then nothing has changed.
  std::string refused(const std::vector<std::string>& which) const {
    const auto before = ids();
    Printed printed;
    const auto done = change(deleting(which), printed.console);
    REQUIRE_FALSE(done.has_value());
    CHECK(ids() == before);
    CHECK(fs::exists(folder.path / "precious"));
    return done.error().message;
  }

  TemporaryFolder folder;
};

TEST_CASE("rename: in the store and in the experiment file") {
  const World world;
  RenameOptions options;
  options.which.directory = world.folder.path.string();
  options.which.experiment = "abcd";
  options.name = "new name";
  Printed printed;
  REQUIRE(change(options, printed.console) == kExitOk);
  CHECK(printed.out() == "experiment abcd2345 is called new name\n");
  StoreReader reader = StoreReader::open(world.folder.path).value();
  const StoredExperiment renamed = reader.find("new name").value();
  CHECK(renamed.id == "abcd2345");
  CHECK(renamed.file["experimentName"] == "new name");
  CHECK(reader.find("other")->id == "efgh2345");

  options.which.json = true;
  Printed as_json;
  REQUIRE(change(options, as_json.console) == kExitOk);
  CHECK(parse_json(as_json.out())->at("name") == "new name");
  options.name = "";
  CHECK(contains(change(options, printed.console).error().message, "the name \"\" cannot be used"));
  options.name = "x\ny";
  CHECK_FALSE(change(options, printed.console).has_value());
  options.name = "fine";
  const auto manager = ExperimentLock::take(world.at("abcd2345")).value();
  CHECK_FALSE(change(options, printed.console).has_value());
}

TEST_CASE("delete: an experiment and its folder, no other") {
  const World world;
  fs::create_directory_symlink(world.folder.path, world.at("abcd2345") / "trials/t0000/link");
  Printed printed;
  REQUIRE(change(world.deleting({"abcd", "digits"}), printed.console) == kExitOk);
  CHECK(printed.out() == "experiment abcd2345 is deleted\n");
  CHECK_FALSE(fs::exists(world.at("abcd2345")));
  CHECK(world.ids() == std::vector<std::string>{"efgh2345"});
  CHECK(fs::exists(world.at("efgh2345") / "trials/t0000/deep/file"));
  CHECK(fs::exists(world.folder.path / "precious"));
  StoreReader reader = StoreReader::open(world.folder.path).value();
  const StoredExperiment other = reader.find("").value();
  CHECK(reader.whole_trial(other, "0")->reports.size() == 1);
}

TEST_CASE("delete: what is not attune's stays, and the folder with it") {
  const World world;
  std::ofstream(world.at("abcd2345") / "mine") << "x";
  DeleteOptions options = world.deleting({"abcd"});
  options.json = true;
  Printed printed;
  REQUIRE(change(options, printed.console) == kExitOk);
  const json deleted = parse_json(printed.out()).value();
  CHECK(deleted[0]["experiment_id"] == "abcd2345");
  CHECK(deleted[0]["folder_removed"] == false);
  CHECK(fs::exists(world.at("abcd2345") / "mine"));
  CHECK_FALSE(fs::exists(world.at("abcd2345") / "trials"));
  CHECK(world.ids() == std::vector<std::string>{"efgh2345"});
}

TEST_CASE("delete: an experiment in its own folder goes with the store") {
  const TemporaryFolder folder;
  {
    Store store = Store::open(folder.path / "exp").value();
    NewExperiment experiment;
    experiment.id = "abcd2345";
    experiment.directory = folder.path / "exp";
    experiment.file = json::object();
    store.begin(experiment, 1000).value();
  }
  DeleteOptions options;
  options.directory = (folder.path / "exp").string();
  options.experiments = {"abcd"};
  options.yes = true;
  Printed printed;
  REQUIRE(change(options, printed.console) == kExitOk);
  CHECK_FALSE(fs::exists(folder.path / "exp"));
}

TEST_CASE("delete: one whose folder is gone leaves the store") {
  const World world;
  fs::remove_all(world.at("abcd2345"));
  Printed printed;
  REQUIRE(change(world.deleting({"abcd"}), printed.console) == kExitOk);
  CHECK(world.ids() == std::vector<std::string>{"efgh2345"});
}

TEST_CASE("delete: refused, and nothing is touched") {
  const World world;
  const fs::path folder = world.at("abcd2345");
  SECTION("it runs; those before it stay, too") {
    const auto manager = ExperimentLock::take(folder).value();
    CHECK(contains(world.refused({"efgh", "abcd"}), "a manager runs this experiment already"));
    Store store = Store::open(world.folder.path).value();
    store.resume("abcd2345", 1010).value();
    CHECK(contains(world.refused({"efgh", "abcd"}), "attune stop abcd2345 ends it"));
    CHECK(fs::exists(world.at("efgh2345") / "trials"));
  }
  SECTION("a trial of a manager that was killed runs on") {
    Store store = Store::open(world.folder.path).value();
    store.resume("abcd2345", 1010).value();
    TrialRecord trial = pending_trial(0);
    trial.attempts = 1;
    trial.status = TrialStatus::running;
    store.add_attempt(trial, "", 1010).value();
    store.change_trial(trial).value();
    store.commit().value();
    const UniqueFd spool(
        ::open((folder / "trials/t0000/spool.0").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    REQUIRE(::flock(spool.get(), LOCK_EX | LOCK_NB) == 0);
    CHECK(contains(world.refused({"abcd"}), "trial t0000 of experiment abcd2345 still runs"));
  }
  SECTION("a symbolic link in place of the folder") {
    fs::rename(folder, world.folder.path / "moved");
    fs::create_directory_symlink("moved", folder);
    CHECK(contains(world.refused({"abcd"}), "it is a symbolic link, which is not followed"));
    CHECK(fs::exists(world.folder.path / "moved/trials/t0000/deep/file"));
  }
  SECTION("another folder in its place") {
    fs::rename(folder, world.folder.path / "moved");
    fs::create_directories(folder / "trials/t0000");
    CHECK(contains(world.refused({"abcd"}), "is not known to be the folder of experiment"));
    CHECK(fs::exists(folder / "trials/t0000"));
  }
  SECTION("others can write there") {
    ::chmod(folder.c_str(), 0777);
    CHECK(contains(world.refused({"abcd"}), "can be written by other users"));
    CHECK(fs::exists(folder / "trials"));
  }
  SECTION("no such experiment") {
    CHECK(contains(world.refused({"abcd", "nobody"}), "no experiment 'nobody'"));
    CHECK(fs::exists(folder / "trials"));
  }
}

TEST_CASE("delete: a person is asked, who may not want it") {
  const World world;
  DeleteOptions options = world.deleting({"abcd"});
  options.yes = false;
  Printed nobody;
  REQUIRE(change(options, nobody.console) == kExitUsage);
  CHECK(contains(nobody.err(), "attune delete --yes"));
  for (std::string answer : {"n\n", "", "Yes please\n"}) {
    Printed printed;
    printed.console.in = answer.empty() ? std::fopen("/dev/null", "r")
                                        : ::fmemopen(answer.data(), answer.size(), "r");
    CHECK(change(options, printed.console).error().message == "nothing is deleted");
    std::fclose(printed.console.in);
  }
  CHECK(world.ids().size() == 2);
  CHECK(fs::exists(world.at("abcd2345")));
  std::string answer = "y\n";
  Printed printed;
  printed.console.in = ::fmemopen(answer.data(), answer.size(), "r");
  REQUIRE(change(options, printed.console) == kExitOk);
  std::fclose(printed.console.in);
  CHECK(contains(printed.err(), "experiment abcd2345 (digits): 1 trials, "));
  CHECK(world.ids() == std::vector<std::string>{"efgh2345"});
}

}  // namespace attune::changes_test
