// What is written into the store is what is read from it, whatever happens in between.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "backends/local/file_watch.h"
#include "manager/store/experiment_lock.h"
#include "manager/store/schema.h"
#include "manager/store/store.h"
#include "manager/store/store_reader.h"
#include "manager/store/store_writer.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::store_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("store: whoever watches the file hears of a commit when it can be read") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345", "digits");
  boost::asio::io_context io;
  int changes = 0;
  const auto watch = FileWatch::create(io, [&](int) { ++changes; }).value();
  REQUIRE(watch->add(folder.path / kStoreFile).has_value());  // not its log, written before
  REQUIRE(store.set_reason("paused").has_value());
  io.poll();
  CHECK(changes == 0);
  REQUIRE(store.commit().has_value());
  io.poll();
  CHECK(changes == 1);
  REQUIRE(store.commit().has_value());
  io.poll();
  CHECK(changes == 1);
}

TEST_CASE("store: an experiment is read as it was written") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345", "digits");
  StoreReader reader = StoreReader::open(folder.path).value();

  StoredExperiment experiment = reader.find("").value();
  CHECK(experiment.id == "abcd2345");
  CHECK(experiment.name == "digits");
  CHECK(experiment.directory == folder.path / "abcd2345");
  CHECK(experiment.objective().metric == "accuracy");
  CHECK(experiment.objective().maximize);
  CHECK(experiment.seed == 0xfedcba9876543210);
  CHECK(experiment.file == json{{"trialCommand", "true"}});
  CHECK(experiment.runs == 1);
  CHECK(experiment.manager_pid == ::getpid());
  CHECK(experiment.started == 1000);
  CHECK_FALSE(experiment.ended.has_value());

  // Nobody holds the lock: whoever wrote "running" was killed.
  CHECK(experiment.status == ExperimentStatus::killed);
  CHECK(experiment.reason.find("attune resume abcd2345") != std::string::npos);
  {
    const auto lock = ExperimentLock::take(experiment.directory);
    REQUIRE(lock.has_value());
    CHECK(reader.find("").value().status == ExperimentStatus::running);
  }
  REQUIRE(store.end({ExperimentEnd::Kind::failed, "no more disk"}, 1100, 100).has_value());
  experiment = reader.find("").value();
  CHECK(experiment.status == ExperimentStatus::failed);
  CHECK(experiment.reason == "no more disk");
  CHECK(experiment.ended == 1100);

  REQUIRE(store.resume("abcd2345", 1200).has_value());
  experiment = reader.find("").value();
  CHECK(experiment.runs == 2);
  CHECK(experiment.manager_started == 1200);
  CHECK(experiment.started == 1000);
  CHECK_FALSE(experiment.ended.has_value());
  CHECK_FALSE(store.resume("unknown", 1300).has_value());
}

TEST_CASE("store: how long its managers ran is counted, whoever sets the clock") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345");
  StoreReader reader = StoreReader::open(folder.path).value();
  const auto seconds = [&] {
    REQUIRE(store.commit().has_value());
    return reader.find("").value().seconds;
  };
  REQUIRE(store.seen(1000, 0).has_value());
  REQUIRE(store.seen(1000 + 259'427, 5).has_value());
  CHECK(seconds() == 5);
  REQUIRE(store.seen(700, 5.5).has_value());  // not yet a second later
  CHECK(seconds() == 5);
  REQUIRE(store.seen(700, 7).has_value());  // and the clock was set back
  CHECK(seconds() == 7);
  REQUIRE(store.resume("abcd2345", 300'000).has_value());
  CHECK(seconds() == 7);
  REQUIRE(store.end({ExperimentEnd::Kind::completed, ""}, 200, 3).has_value());
  CHECK(seconds() == 10);
}

TEST_CASE("store: a trial is read as it was written") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345");
  TrialRecord trial = pending_trial(7);
  trial.source = TrialSource::customized;
  trial.proposed = {std::string("0-2_0_0"),
                    {{"lr", 0.5}, {"name", "a \"b\", c\n\u00e9"}},
                    "{\"parameter_id\": \"0-2_0_0\"}"};
  trial.reason = "waits for 2 cpu";
  REQUIRE(store.add_trial(trial, 1001).has_value());

  trial.status = TrialStatus::running;
  trial.reason.clear();
  trial.attempts = 1;
  trial.start_time = 1002;
  REQUIRE(store.add_attempt(trial, "", 1002).has_value());
  REQUIRE(store.change_trial(trial).has_value());
  trial.last_metric = {{"accuracy", 0.25}, {"loss", kNan}};
  trial.reports = 1;
  REQUIRE(store.add_report(trial, report_of(trial, 0, trial.last_metric, 40), {}).has_value());
  TrialReport late = report_of(trial, 1, {{"accuracy", 0.5}}, 80);
  late.late = true;
  REQUIRE(store.add_report(trial, late, {}).has_value());
  REQUIRE(store.add_report(trial, report_of(trial, 2, "text", 120), {false, "is no number"})
              .has_value());
  REQUIRE(
      store.add_decision({"t0007", "stop", "user", "attune kill", EndAsked::Kind::by_user}, 1004)
          .has_value());
  REQUIRE(store.add_checkpoint({"t0007", "c1", 4096, ""}, 1004.5).has_value());
  REQUIRE(store.add_checkpoint({"t0007", "c2", 0, "nothing saved"}, 1004.75).has_value());
  REQUIRE(store.drop_checkpoint("c1", 1006).has_value());
  REQUIRE(store.add_event({EventKind::warning, "byte 3 is no metric", "t0007"}, 1004).has_value());
  REQUIRE(
      store.add_event({EventKind::warning, "trial t0007: another's", "t0008"}, 1004).has_value());
  REQUIRE(
      store
          .end_attempt(trial, {"t0007", Ending::signalled, "killed by signal 11", 1005, 0.75, 8192})
          .has_value());
  trial.status = TrialStatus::failed;
  trial.reason = "killed by signal 11";
  trial.failures = 1;
  trial.end_time = 1005;
  trial.final_metric = std::numeric_limits<double>::infinity();
  REQUIRE(store.change_trial(trial).has_value());

  StoreReader reader = StoreReader::open(folder.path).value();
  const StoredExperiment experiment = reader.find("").value();
  CHECK_FALSE(reader.trial(experiment, "t0007").has_value());  // not committed yet
  REQUIRE(store.commit().has_value());
  const StoredTrial read = reader.whole_trial(experiment, "7").value();

  CHECK(read.trial.job_id == "t0007");
  CHECK(read.trial.sequence == 7);
  CHECK(read.trial.source == TrialSource::customized);
  CHECK(read.trial.status == TrialStatus::failed);
  CHECK(read.trial.reason == "killed by signal 11");
  CHECK(read.trial.attempts == 1);
  CHECK(read.trial.failures == 1);
  CHECK(read.trial.reports == 1);
  CHECK(read.trial.start_time == 1002);
  CHECK(read.trial.end_time == 1005);
  CHECK(read.trial.proposed.parameter_id == trial.proposed.parameter_id);
  CHECK(read.trial.proposed.parameters == trial.proposed.parameters);
  CHECK(read.trial.proposed.text == trial.proposed.text);
  CHECK(read.trial.last_metric["accuracy"] == 0.25);
  CHECK(std::isnan(read.trial.last_metric["loss"].get<double>()));
  CHECK(read.trial.final_metric == std::numeric_limits<double>::infinity());

  REQUIRE(read.attempts.size() == 1);
  CHECK(read.attempts[0].ending == Ending::signalled);
  CHECK(read.attempts[0].detail == "killed by signal 11");
  CHECK(read.attempts[0].started == 1002);
  CHECK(read.attempts[0].ended == 1005);
  CHECK(read.attempts[0].cpu_seconds == 0.75);
  CHECK(read.attempts[0].max_rss == 8192);

  REQUIRE(read.reports.size() == 3);
  CHECK(read.reports[0].value == 0.25);
  CHECK(read.reports[0].position == 40);
  CHECK_FALSE(read.reports[0].late);
  CHECK(read.reports[0].text == report_text(0));
  CHECK(read.reports[1].late);
  CHECK(read.reports[1].sequence == 1);
  CHECK(read.reports[2].ignored == "is no number");
  CHECK_FALSE(read.reports[2].value.has_value());

  REQUIRE(read.decisions.size() == 1);
  CHECK(read.decisions[0].by == "user");
  CHECK(read.decisions[0].reason == "attune kill");
  CHECK(read.decisions[0].ends == EndAsked::Kind::by_user);
  REQUIRE(read.checkpoints.size() == 2);
  CHECK(read.checkpoints[0].state == "dropped");
  CHECK(read.checkpoints[0].dropped == 1006);
  CHECK(read.checkpoints[0].bytes == 4096);
  CHECK(read.checkpoints[1].state == "failed");
  CHECK(read.checkpoints[1].error == "nothing saved");
  REQUIRE(read.events.size() == 1);
  CHECK(read.events[0].text == "byte 3 is no metric");
  CHECK(reader.events(experiment, 1).value().at(0).text == "trial t0007: another's");
}

TEST_CASE("store: best, tally, order and filters") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345");
  const auto finish = [&](std::int64_t sequence, TrialStatus status, const json& metric) {
    TrialRecord trial = pending_trial(sequence);
    REQUIRE(store.add_trial(trial, 1001).has_value());
    trial.status = status;
    trial.final_metric = metric;
    REQUIRE(store.change_trial(trial).has_value());
  };
  finish(0, TrialStatus::succeeded, {{"accuracy", 0.5}});
  finish(1, TrialStatus::succeeded, {{"accuracy", 0.9}});
  finish(2, TrialStatus::early_stopped, {{"accuracy", 0.99}});
  finish(3, TrialStatus::succeeded, {{"accuracy", 0.9}});
  finish(4, TrialStatus::succeeded, {{"accuracy", kNan}});
  finish(5, TrialStatus::failed, nullptr);
  finish(6, TrialStatus::paused, nullptr);
  finish(7, TrialStatus::user_canceled, nullptr);
  REQUIRE(store.add_trial(pending_trial(8), 1001).has_value());
  REQUIRE(store.commit().has_value());

  StoreReader reader = StoreReader::open(folder.path).value();
  const StoredExperiment experiment = reader.find("abcd").value();
  const auto ids = [](const std::vector<TrialRecord>& trials) {
    std::string text;
    for (const TrialRecord& trial : trials) text += trial.job_id + " ";
    return text;
  };
  CHECK(ids(reader.best(experiment, 2).value()) == "t0001 t0003 ");
  CHECK(ids(reader.best(experiment, 10).value()) == "t0001 t0003 t0000 ");
  const Tally tally = reader.tally(experiment).value();
  CHECK(tally.succeeded == 4);
  CHECK(tally.failed == 1);
  CHECK(tally.early_stopped == 1);
  CHECK(tally.user_canceled == 1);
  CHECK(tally.paused == 1);
  CHECK(tally.pending == 1);
  CHECK(tally.running == 0);

  TrialFilter filter;
  filter.statuses = {TrialStatus::succeeded, TrialStatus::early_stopped};
  filter.order = TrialFilter::Order::newest;
  filter.limit = 3;
  CHECK(ids(reader.trials(experiment, filter).value()) == "t0004 t0003 t0002 ");
  filter.order = TrialFilter::Order::best;
  CHECK(ids(reader.trials(experiment, filter).value()) == "t0002 t0001 t0003 ");
  CHECK(reader.trial(experiment, "t0009").error().message.find("no trial 't0009'") !=
        std::string::npos);
  CHECK(reader.next_sequence(experiment).value() == 9);
}

TEST_CASE("store: what a resume needs") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345");
  REQUIRE(store.add_trial(pending_trial(0), 1001).has_value());  // never started
  TrialRecord running = pending_trial(1);
  REQUIRE(store.add_trial(running, 1001).has_value());
  running.status = TrialStatus::running;
  running.attempts = 1;
  REQUIRE(store.add_attempt(running, "", 1002).has_value());
  REQUIRE(store.change_trial(running).has_value());
  REQUIRE(store.add_report(running, report_of(running, 0, 0.5, 40), {}).has_value());
  REQUIRE(store.end_attempt(running, {"t0001", Ending::paused, "", 1003, 0, 0}).has_value());
  running.status = TrialStatus::paused;
  running.checkpoint = "c1";
  REQUIRE(store.change_trial(running).has_value());
  // It goes on with another configuration.
  running.proposed = {std::int64_t{21}, {{"x", 3}}, "third", "t0001", "c1"};
  running.status = TrialStatus::pending;
  REQUIRE(store.change_trial(running).has_value());
  running.status = TrialStatus::running;
  running.attempts = 2;
  REQUIRE(store.add_attempt(running, "c1", 1004).has_value());
  REQUIRE(store.change_trial(running).has_value());
  REQUIRE(store.add_parameter(running, 1, {std::int64_t{22}, {{"x", 4}}, "fourth"}).has_value());
  REQUIRE(store.add_imports({{{{"x", 1}}, kNan, "old1"}}, 1005).has_value());
  REQUIRE(store.commit().has_value());

  StoreReader reader = StoreReader::open(folder.path).value();
  const StoredExperiment experiment = reader.find("").value();
  auto unfinished = reader.unfinished(experiment).value();
  REQUIRE(unfinished.size() == 2);
  CHECK(unfinished[0].trial.job_id == "t0000");
  CHECK_FALSE(unfinished[0].attempt.has_value());
  CHECK(unfinished[0].trial.proposed.text == "text 0");
  CHECK(unfinished[1].trial.status == TrialStatus::running);
  CHECK(unfinished[1].trial.checkpoint == "c1");
  CHECK(unfinished[1].trial.proposed.text == "third");
  CHECK(unfinished[1].trial.proposed.resume_job == "t0001");
  CHECK(unfinished[1].trial.proposed.checkpoint_from == "c1");
  REQUIRE(unfinished[1].attempt.has_value());
  CHECK(unfinished[1].attempt->attempt == 1);
  CHECK(unfinished[1].attempt->from_checkpoint == "c1");
  CHECK_FALSE(unfinished[1].attempt->ended.has_value());
  CHECK(unfinished[1].position == 0);  // the report was of the attempt before
  REQUIRE(unfinished[1].parameters.size() == 1);
  CHECK(unfinished[1].parameters[0].proposed.text == "fourth");
  CHECK(std::isnan(reader.imports(experiment).value().at(0).value.get<double>()));

  // The next manager counts reports on where the killed one stopped.
  Store next = Store::open(folder.path).value();
  REQUIRE(next.resume("abcd2345", 1010).has_value());
  REQUIRE(next.add_report(running, report_of(running, 1, 0.75, 90), {}).has_value());
  REQUIRE(next.commit().has_value());
  CHECK(reader.unfinished(experiment).value()[1].position == 90);
  const StoredTrial whole = reader.whole_trial(experiment, "t0001").value();
  REQUIRE(whole.reports.size() == 2);
  CHECK(whole.reports[1].report == 1);
  CHECK(whole.reports[1].attempt == 1);
  REQUIRE(whole.parameters.size() == 3);
  CHECK(whole.parameters[0].proposed.text == "text 1");
  CHECK(whole.parameters[1].proposed.text == "third");
  CHECK(whole.parameters[1].attempt == 1);
}

TEST_CASE("store: why nothing is proposed for now stands in the reason") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345");
  const ExperimentLock lock = ExperimentLock::take(folder.path / "abcd2345").value();
  const ManualClock clock(2000);
  StoreWriter writer(store, clock);
  StoreReader reader = StoreReader::open(folder.path).value();
  for (const char* reason : {"the disk is full", ""}) {
    writer.set_postponed(reason);
    REQUIRE(writer.commit().has_value());
    CHECK(reader.find("")->reason == reason);
  }
}

TEST_CASE("store: the writer is durable when begin_attempt and commit return") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345");
  const ManualClock clock(2000);
  StoreWriter writer(store, clock);
  StoreReader reader = StoreReader::open(folder.path).value();
  const StoredExperiment experiment = reader.find("").value();

  TrialRecord trial = pending_trial(0);
  writer.add_trial(trial);
  trial.status = TrialStatus::running;
  trial.attempts = 1;
  REQUIRE(writer.begin_attempt(trial, "").has_value());
  CHECK(reader.whole_trial(experiment, "0").value().attempts.size() == 1);
  CHECK(reader.trial(experiment, "0")->status == TrialStatus::running);

  writer.add_report(trial, report_of(trial, 0, 0.5, 40), {});
  writer.add_decision({"t0000", "checkpoint", "runner", "every 1 report"});
  writer.add_checkpoint({"t0000", "c1", 10, ""});
  writer.drop_checkpoint("c1");
  writer.add_parameter(trial, 1, {std::int64_t{1}, {{"x", 4}}, "more"});
  writer.end_attempt(trial, {"t0000", Ending::succeeded, "exit code 0", 2001, 0, 0});
  writer.add_event({EventKind::update, "concurrency 3"});
  trial.status = TrialStatus::succeeded;
  writer.change_trial(trial);
  CHECK(reader.whole_trial(experiment, "0").value().reports.empty());
  REQUIRE(writer.commit().has_value());
  const StoredTrial whole = reader.whole_trial(experiment, "0").value();
  CHECK(whole.reports.size() == 1);
  CHECK(whole.decisions.size() == 1);
  CHECK(whole.checkpoints.at(0).state == "dropped");
  CHECK(whole.parameters.size() == 2);
  CHECK(whole.attempts.at(0).ending == Ending::succeeded);
  CHECK(whole.trial.status == TrialStatus::succeeded);
  CHECK(reader.events(experiment, 9)->at(0).kind == "update");
  writer.end({ExperimentEnd::Kind::completed, ""});
  CHECK(writer.end_result().has_value());
  CHECK(reader.find("")->status == ExperimentStatus::completed);

  // An unknown trial cannot be written, and the failure is not forgotten.
  writer.add_decision({"t0999", "stop", "user", ""});
  CHECK_FALSE(writer.commit().has_value());
  CHECK_FALSE(writer.commit().has_value());
}

}  // namespace attune::store_test
