// What the commands print that only look.
#include "manager/cli/commands/views.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "manager/control/json_format.h"
#include "manager/store/experiment_lock.h"
#include "manager/store/store.h"
#include "os/unique_fd.h"
#include "tests/manager/cli/printed.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::views_test {

// An experiment with a trial in every state.
class World {
 public:
  World() : store(begin_experiment(folder.path, "abcd2345", "digits")) {
    TrialRecord trial = pending_trial(0);
    add(trial);
    trial.status = TrialStatus::running;
    trial.attempts = 1;
    trial.start_time = 1002;
    store.add_attempt(trial, "", 1002).value();
    store.add_report(trial, report_of(trial, 0, {{"accuracy", 0.5}}, 40), {}).value();
    store.end_attempt(trial, {"t0000", Ending::succeeded, "exit code 0", 1012.5, 1.25, 2.5e6})
        .value();
    trial.status = TrialStatus::succeeded;
    trial.reports = 1;
    trial.last_metric = {{"accuracy", 0.5}};
    trial.final_metric = {{"accuracy", 0.75}};
    trial.end_time = 1012.5;
    store.change_trial(trial).value();

    trial = pending_trial(1);
    trial.reason = "waits for 2 cpu, 1 is free";
    add(trial);

    trial = pending_trial(2);
    add(trial);
    trial.status = TrialStatus::running;
    trial.attempts = 1;
    trial.reports = 3;
    trial.start_time = 1080;
    trial.last_metric = {{"accuracy", 0.25}, {"training_iteration", 9}};
    store.add_attempt(trial, "", 1080).value();
    store.change_trial(trial).value();

    trial = pending_trial(3);
    add(trial);
    trial.status = TrialStatus::failed;
    trial.attempts = 1;
    trial.failures = 1;
    trial.start_time = 1020;
    trial.end_time = 1030;
    trial.reason = "killed by signal 11 (Segmentation fault)";
    store.add_attempt(trial, "", 1020).value();
    TrialReport late = report_of(trial, 0, std::nan(""), 40);
    late.late = true;
    store.add_report(trial, late, {}).value();
    store.end_attempt(trial, {"t0003", Ending::signalled, "killed by signal 11", 1030, 0.5, 1e6})
        .value();
    store.add_decision({"t0003", "stop", "decider", "median rule"}, 1025).value();
    store.add_checkpoint({"t0003", "c1", 4096, ""}, 1024).value();
    store.drop_checkpoint("c1", 1028).value();
    store.add_event({EventKind::warning, "trial t0003: byte 7 is no metric", "t0003"}, 1021)
        .value();
    store.change_trial(trial).value();
    store.seen(1100, 100).value();
    store.commit().value();
  }

  TemporaryFolder folder;
  Store store;

 private:
  void add(const TrialRecord& trial) { store.add_trial(trial, 1001).value(); }
};

template <class Options>
Options in(const World& world) {
  Options options;
  options.which.directory = world.folder.path.string();
  return options;
}

TEST_CASE("views: list") {
  const World world;
  ListOptions options;
  options.directory = world.folder.path.string();
  std::string text = printed(options);
  CHECK(text.starts_with("ID        NAME    STATUS  BEGAN"));
  CHECK(contains(text, "abcd2345  digits  killed"));
  CHECK(contains(text, "2       0.75  its manager was killed; attune resume abcd2345 goes on\n"));

  options.json = true;
  const json array = parse_json(printed(options)).value();
  REQUIRE(array.size() == 1);
  CHECK(array[0].begin().key() == "format");
  CHECK(array[0]["format"] == kJsonFormat);
  CHECK(array[0]["experiment_id"] == "abcd2345");
  CHECK(array[0]["status"] == "killed");
  CHECK(array[0]["optimize_mode"] == "maximize");
  CHECK(array[0]["trials"]["succeeded"] == 1);
  CHECK(array[0]["trials"]["failed"] == 1);
  CHECK(array[0]["best"]["trial_job_id"] == "t0000");
  CHECK(array[0]["best"]["score"] == 0.75);

  options.directory = "/nowhere";
  Printed nothing;
  CHECK(contains(view(options, nothing.console).error().message, "no experiments in /nowhere"));
}

TEST_CASE("views: status says what runs, why the others wait, and what failed") {
  const World world;
  auto options = in<StatusOptions>(world);
  std::string text = printed(options);
  CHECK(contains(text, "experiment abcd2345 (digits): killed, its manager was killed"));
  CHECK(contains(text, "best 0.75 (t0000)\n"));
  CHECK(contains(text,
                 "pending trials:\n - t0001:\tpending: waits for 2 cpu, 1 is free; no manager "
                 "runs: attune resume --dir " +
                     (world.folder.path / "abcd2345").string() + "\n"));
  CHECK(
      contains(text, "running trials:\n - t0002:\trunning [attempt 1], 20 s, 9 iter, 0.25 acc\n"));
  CHECK(contains(text,
                 "Commonest failures:\n - 1 trial: killed by signal 11\n   attune logs t0003 "
                 "--stderr --dir "));
  CHECK(contains(text, "Last failures:\n - t0003:\tkilled by signal 11 (Segmentation fault)\n"));
  {
    const auto lock = ExperimentLock::take(world.folder.path / "abcd2345");
    REQUIRE(lock.has_value());
    text = printed(options);
    CHECK(contains(text, "(digits): running\n"));
    CHECK(contains(text, "[2] 1 running, 1 failed, best 0.75 (t0000), 1 min 40 s\n"));
  }
  options.which.json = true;
  const json object = parse_json(printed(options)).value();
  CHECK(object["format"] == kJsonFormat);
  CHECK(object["seconds"] == 100);
  REQUIRE(object["unfinished"].size() == 2);
  CHECK(contains(object["unfinished"][0]["reason"], "no manager runs: attune resume --dir "));
  CHECK(object["last_failures"][0]["trial_job_id"] == "t0003");
  CHECK(object["failure_causes"] == json::array({{{"count", 1},
                                                  {"ending", "signalled"},
                                                  {"detail", "killed by signal 11"},
                                                  {"last_line", ""},
                                                  {"trial_job_id", "t0003"}}}));
  CHECK(object["last_failures"][0]["status"] == "failed");
  CHECK_FALSE(object["last_failures"][0].contains("format"));  // it does not stand alone
}

TEST_CASE("views: trials, filtered and sorted") {
  const World world;
  auto options = in<TrialsOptions>(world);
  std::string text = printed(options);
  CHECK(text.starts_with("TRIAL  STATUS     SCORE  TOOK  ATTEMPTS  REPORTS  REASON"));
  CHECK(contains(text, "t0000  succeeded  0.75   10 s  1         1"));
  CHECK(contains(text, "{\"x\":0.5}\n"));
  options.statuses = {TrialStatus::failed, TrialStatus::pending};
  options.sort = "newest";
  options.which.json = true;
  const json array = parse_json(printed(options)).value();
  REQUIRE(array.size() == 2);
  CHECK(array[0]["trial_job_id"] == "t0003");
  CHECK(array[1]["trial_job_id"] == "t0001");
  CHECK(array[1]["started"].is_null());
  CHECK(array[1]["status"] == "pending");
  CHECK(array[1]["format"] == kJsonFormat);
  options.limit = 1;
  CHECK(parse_json(printed(options))->size() == 1);

  // On a terminal a line ends where the terminal does.
  Printed narrow(30);
  options.which.json = false;
  REQUIRE(view(options, narrow.console).has_value());
  CHECK(narrow.out() == "TRIAL  STATUS  SCORE  TOOK  AT\nt0003  failed         10 s  1\n");
}

TEST_CASE("views: best") {
  const World world;
  auto options = in<BestOptions>(world);
  CHECK(printed(options) == "0.75 (highest, trial t0000)\n{\n  \"x\": 0.5\n}\n");
  options.count = 5;
  options.which.json = true;
  CHECK(parse_json(printed(options))->size() == 1);
}

TEST_CASE("views: show tells everything of a trial") {
  const World world;
  auto options = in<ShowOptions>(world);
  options.trial = "3";
  const std::string text = printed(options);
  CHECK(
      contains(text, "trial t0003 of abcd2345: failed, killed by signal 11 (Segmentation fault)"));
  CHECK(contains(text, "parameters {\n  \"x\": 0.5\n}\n"));
  CHECK(contains(text, "0.5 s  1.0 MB  -     signalled: killed by signal 11\n"));
  CHECK(contains(text, "stop      "));
  CHECK(contains(text, "decider  median rule\n"));
  CHECK(contains(text, "4.1 kB  dropped "));
  CHECK(contains(text, "trial t0003: byte 7 is no metric\n"));
  CHECK(contains(text, "late: the decision was taken without it\n"));

  options.which.json = true;
  const json object = parse_json(printed(options)).value();
  CHECK(object["format"] == kJsonFormat);
  CHECK(object["attempt_list"][0]["ending"] == "signalled");
  CHECK(object["report_list"][0]["late"] == true);
  CHECK(object["report_list"][0].contains("score"));
  CHECK(object["report_list"][0]["text"] == report_text(0));
  CHECK(object["decision_list"][0]["reason"] == "median rule");
  CHECK(object["checkpoint_list"][0]["dropped"] == 1028);
  CHECK(object["event_list"].size() == 1);
  CHECK(object["parameter_list"][0]["parameters"]["x"] == 0.5);

  options.trial = "t0099";
  Printed nothing;
  CHECK(contains(view(options, nothing.console).error().message, "no trial 't0099'"));
}

TEST_CASE("views: show tells the parameters of an attempt only if they have changed") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345", "digits");
  TrialRecord trial = pending_trial(0);
  store.add_trial(trial, 1001).value();
  for (const double x : {0.5, 0.5, 0.25}) {  // the second one goes on after a pause
    trial.proposed.parameters = {{"x", x}};
    trial.proposed.text = "proposal " + std::to_string(trial.attempts++);
    store.add_attempt(trial, "", 1002).value();
  }
  store.commit().value();
  ShowOptions options;
  options.which.directory = folder.path.string();
  options.trial = "0";
  const std::string text = printed(options);
  CAPTURE(text);
  CHECK(contains(text, "parameters {\n  \"x\": 0.5\n}\n"));
  CHECK_FALSE(contains(text, "from attempt 1"));
  CHECK(contains(text, "from attempt 2 on {\n  \"x\": 0.25\n}\n"));
  options.which.json = true;
  CHECK(parse_json(printed(options)).value()["parameter_list"].size() == 3);
}

TEST_CASE("views: show tells where an attempt runs") {
  World world;
  auto options = in<ShowOptions>(world);
  options.trial = "2";
  CHECK_FALSE(contains(printed(options), "WORKER"));
  TrialRecord trial = pending_trial(2);
  trial.attempts = 1;
  world.store.set_place(trial, {"t0002", "", 0, "w7", "node3"}, 1090).value();
  world.store.set_place(trial, {"t0002", "", 0, "w7", ""}, 1090)
      .value();  // the host is not forgotten
  world.store.commit().value();
  CHECK(contains(printed(options), "w7 on node3  "));
  options.which.json = true;
  json attempt = parse_json(printed(options)).value()["attempt_list"][0];
  CHECK(attempt["worker"] == "w7");
  CHECK(attempt["host"] == "node3");
  CHECK(attempt["started"] == 1090);  // not when it began to wait for a worker
  world.store.set_place(trial, {"t0002", "", 0, "w8", ""}, 1091).value();
  world.store.commit().value();
  attempt = parse_json(printed(options)).value()["attempt_list"][0];
  CHECK(attempt["worker"] == "w8");
  CHECK(attempt["host"].get<std::string>().empty());
}

TEST_CASE("views: logs, and following them to the end of the trial") {
  World world;
  const auto trial_folder = world.folder.path / "abcd2345" / "trials" / "t0002";
  auto options = in<LogsOptions>(world);
  options.trial = "t0001";
  Printed nothing;
  CHECK(contains(view(options, nothing.console).error().message, "not started yet"));
  options.trial = "t0002";
  CHECK(contains(view(options, nothing.console).error().message, "cannot open"));

  std::filesystem::create_directories(trial_folder);
  std::ofstream out(trial_folder / "stdout");
  out << "first\n" << std::flush;
  std::ofstream(trial_folder / "stderr") << "wrong\n";
  CHECK(printed(options) == "first\n");
  options.from_stderr = true;
  CHECK(printed(options) == "wrong\n");

  // A trial may do what it likes in its folder.
  std::filesystem::remove(trial_folder / "stderr");
  REQUIRE(::mkfifo((trial_folder / "stderr").c_str(), 0600) == 0);
  CHECK(contains(view(options, nothing.console).error().message, "is no regular file"));

  options.from_stderr = false;
  options.follow = true;
  Printed followed;
  bool good = false;
  std::thread reader([&] { good = view(options, followed.console).has_value(); });
  out << "second\n" << std::flush;
  TrialRecord trial = pending_trial(2);
  trial.status = TrialStatus::succeeded;
  REQUIRE(world.store.change_trial(trial).has_value());
  REQUIRE(world.store.commit().has_value());
  reader.join();
  CHECK(good);
  CHECK(followed.out() == "first\nsecond\n");
}

TEST_CASE("views: logs are followed to the end though the store is written anew") {
  World world;
  world.store.be_patient();
  const auto trial_folder = world.folder.path / "abcd2345" / "trials" / "t0002";
  std::filesystem::create_directories(trial_folder);
  std::ofstream(trial_folder / "stdout") << "first\n";
  auto options = in<LogsOptions>(world);
  options.trial = "t0002";
  options.follow = true;
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const UniqueFd printed(ends[0]);
  Console console;
  console.out = ::fdopen(ends[1], "w");
  bool good = false;
  std::thread reader([&] {
    good = view(options, console).has_value();
    std::fclose(console.out);
  });
  char byte = 0;
  REQUIRE(::read(printed.get(), &byte, 1) == 1);  // it has opened the old one
  std::filesystem::remove(world.folder.path / "attune.sqlite");
  TrialRecord trial = pending_trial(2);
  trial.status = TrialStatus::succeeded;
  REQUIRE(world.store.change_trial(trial).has_value());
  REQUIRE(world.store.commit().has_value());
  std::ofstream(trial_folder / "stdout", std::ios::app) << "second\n";
  pollfd end{printed.get(), 0, 0};
  const bool ended = ::poll(&end, 1, 600'000) == 1;
  CHECK(ended);
  if (!ended) std::exit(1);  // the thread would never end
  reader.join();
  CHECK(good);
}

}  // namespace attune::views_test
