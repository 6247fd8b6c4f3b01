// What an experiment shows: the best trial, the status line, the summary.
#include <catch2/catch.hpp>
#include <fstream>
#include <limits>
#include <sstream>

#include "manager/cli/commands/best_text.h"
#include "manager/cli/progress.h"
#include "manager/cli/reporter.h"
#include "manager/trials/best_trial.h"
#include "os/private_file.h"
#include "tests/support/temporary_folder.h"

namespace attune::report_test {

TrialRecord trial(std::int64_t sequence, json metric, TrialStatus status = TrialStatus::succeeded) {
  TrialRecord record;
  record.job_id = job_id_of(sequence);
  record.sequence = sequence;
  record.proposed = {sequence, {{"x", 0.5}}, "text"};
  record.status = status;
  record.final_metric = std::move(metric);
  record.start_time = 1.5;
  record.end_time = 2.5;
  return record;
}

class Folder : public TemporaryFolder {
 public:
  std::string text(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(path / name).rdbuf();
    return text.str();
  }
};

TEST_CASE("results: the score is the number, or its default, if it is finite") {
  CHECK(trial(0, 2).score() == 2);
  CHECK(trial(0, true).score() == 1);
  CHECK(trial(0, {{"loss", 1}, {"default", 3.5}}).score() == 3.5);
  for (const json& none : {json(nullptr), json("1"), json::array({1}), json{{"loss", 1}},
                           json(std::numeric_limits<double>::infinity())}) {
    CHECK_FALSE(trial(0, none).score().has_value());
  }
}

TEST_CASE("results: the best trial") {
  const bool maximize = GENERATE(true, false);
  BestTrial best({{"default", maximize}});
  best.offer(trial(0, nullptr));
  CHECK_FALSE(best.get());
  best.offer(trial(1, 1));
  best.offer(trial(2, 5));
  best.offer(trial(3, 5));
  best.offer(trial(4, -2));
  best.offer(trial(5, -2));
  best.offer(trial(6, 99, TrialStatus::failed));
  best.offer(trial(7, -99, TrialStatus::early_stopped));
  CHECK(best.get()->trial.job_id == (maximize ? "t0002" : "t0004"));
}

const std::vector<Objective> kLimited = {{"loss", false}, {"seconds", false, 2.0}};
const std::vector<Objective> kThree = {{"loss", false}, {"seconds", false, 2.0}, {"size", true}};

json result(double loss, double seconds, double size = 0) {
  return {{"loss", loss}, {"seconds", seconds}, {"size", size}};
}

TEST_CASE("results: with a limit the best one keeps it") {
  BestTrial best(kLimited);
  best.offer(trial(0, 0.1));              // is not known to keep it
  best.offer(trial(1, {{"loss", 0.1}}));  // neither
  CHECK_FALSE(best.get());
  CHECK(best_text(best.get(), kLimited).empty());
  best.offer(trial(2, result(0.2, 9)));
  best.offer(trial(3, result(0.3, 3)));
  CHECK(best.get()->violation == 1);
  CHECK(best_text(best.get(), kLimited) == "no trial keeps the limits yet, nearest 0.3 (t0003)");
  best.offer(trial(4, result(0.5, 1)));
  best.offer(trial(5, result(0.6, 0.5)));
  best.offer(trial(6, result(0.01, 2.01)));
  CHECK(best_text(best.get(), kLimited) == "best 0.5 (t0004)");
  CHECK(best.leaders().size() == 1);
}

TEST_CASE("results: of several objectives the trade-offs are kept") {
  BestTrial best(kThree);
  best.offer(trial(0, result(0.5, 1, 10)));
  CHECK(best_text(best.get(), kThree) == "1 trade-off, best loss 0.5 (t0000)");
  best.offer(trial(1, result(0.25, 1, 5)));
  best.offer(trial(2, result(0.1, 3, 99)));  // breaks the limit
  CHECK(best_text(best.get(), kThree) == "2 trade-offs, best loss 0.25 (t0001)");
  best.offer(trial(3, result(0.5, 2, 11)));  // better than the first
  std::string ids;
  for (const TrialRecord& each : best.leaders()) ids += each.job_id + " ";
  CHECK(ids == "t0001 t0003 ");
}

TEST_CASE("progress: durations and the status line") {
  CHECK(duration_text(0.25) == "0.2 s");
  CHECK(duration_text(59.9) == "59 s");
  CHECK(duration_text(185) == "3 min 05 s");
  CHECK(duration_text(7800) == "2 h 10 min");
  CHECK(duration_text(360000) == "4 d 04 h");
  CHECK(trials_text(1) == "1 trial");
  CHECK(trials_text(0) == "0 trials");
  ProgressOptions options;
  Tally tally;
  tally.running = 2;
  CHECK(status_line(tally, {}, 1, options) == "[0] 2 running, 1.0 s");
  tally.waiting = 1;
  CHECK(status_line(tally, {}, 1, options) == "[0] 1 running, 1 waiting, 1.0 s");
  tally.waiting = 0;
  options.max_trials = 40;
  tally.succeeded = 7;
  tally.early_stopped = 2;
  tally.failed = 1;
  CHECK(status_line(tally, "best 0.980123 (t0007)", 25, options) ==
        "[10/40] 2 running, 2 stopped early, 1 failed, best 0.980123 (t0007), 25 s, about 1 min 15 "
        "s left");
  options.max_seconds = 60;
  CHECK(status_line(tally, {}, 25, options).ends_with("25 s, about 35 s left"));
}

std::string shown(ProgressOptions options, bool with_message) {
  char* text = nullptr;
  std::size_t size = 0;
  options.stream = ::open_memstream(&text, &size);
  {
    ManualClock clock;
    ProgressLine progress(options, clock);
    Tally tally;
    tally.running = 1;
    progress.update(tally);
    if (with_message) progress.message("warning: x");
    tally.running = 0;
    tally.succeeded = 1;
    progress.update(tally);
    const TrialRecord record = trial(0, 0.5);
    progress.trial_ended(record, "best 0.5 (t0000)");
    clock.advance(1);
    progress.redraw();
  }
  std::fclose(options.stream);
  std::string result(text, size);
  ::free(text);
  return result;
}

TEST_CASE("progress: plain lines without a terminal, one rewritten line on it") {
  ProgressOptions options;
  options.max_trials = 1;
  CHECK(shown(options, true) == "warning: x\n[1/1] t0000 succeeded 0.5, best 0.5 (t0000), 0.0 s\n");
  options.quiet = true;
  CHECK(shown(options, true) == "warning: x\n");
  options.quiet = false;
  options.terminal = true;
  const std::string plain = shown(options, false);
  CHECK(plain.find('\n') == std::string::npos);
  CHECK(plain.find('\x1b') == std::string::npos);
  CHECK(plain.find("\r[1/1] 0 running, best 0.5 (t0000), 1.0 s, about 0.0 s left") !=
        std::string::npos);
  options.ansi = true;
  CHECK(shown(options, false).find("\x1b[K") != std::string::npos);
}

TEST_CASE("reporter: the summary and the exit code") {
  ManualClock clock;
  ProgressOptions options;
  options.quiet = true;
  ProgressLine progress(options, clock);
  Reporter reporter({"abc", "/exp", {{"accuracy", true}}, 7}, progress);
  TrialRecord record = trial(3, {{"accuracy", 0.5}, {"seconds", 2}});
  record.end_time = 2;
  reporter.on_trial_changed(record);
  Tally tally;
  tally.succeeded = 1;
  tally.pending = 2;
  reporter.on_tally(tally);
  SECTION("completed") {
    reporter.on_done({ExperimentEnd::Kind::completed, "done"});
    CHECK(reporter.exit_code() == 0);
    const json summary = reporter.summary();
    CHECK(summary["best"]["score"] == 0.5);
    CHECK(summary["trials"]["pending"] == 2);
    CHECK(summary["format"] == 1);
    CHECK(summary["status"] == "completed");
    CHECK(summary["session"]["reason"] == "done");
    CHECK(summary["optimize_mode"] == "maximize");
    const std::string text = reporter.summary_text();
    CHECK(text.find("best 0.5 (highest, trial t0003)\n  with seconds 2\n") != std::string::npos);
    CHECK(text.find("2 trials have not ended: attune resume --dir /exp goes on") !=
          std::string::npos);
  }
  SECTION("interrupted") {
    reporter.on_done({ExperimentEnd::Kind::interrupted, "SIGINT"});
    CHECK(reporter.exit_code() == 130);
  }
  SECTION("failed, after or before the first trial") {
    reporter.on_done({ExperimentEnd::Kind::failed, "why"});
    CHECK(reporter.exit_code() == 2);
    reporter.on_attempt(record);
    CHECK(reporter.exit_code() == 1);
  }
}

TEST_CASE("reporter: what was done since a resume, and what in all") {
  ManualClock clock;
  ProgressOptions options;
  options.quiet = true;
  ProgressLine progress(options, clock);
  Reporter reporter({"abc", "/exp", {{"accuracy", true}}, 7}, progress);
  Tally tally;
  tally.succeeded = 3;
  tally.failed = 1;
  tally.pending = 1;
  reporter.go_on_from(tally, 100);
  tally.succeeded = 5;
  tally.pending = 0;
  reporter.on_tally(tally);
  clock.advance(20);
  reporter.on_done({ExperimentEnd::Kind::completed, "done"});
  CHECK(reporter.summary_text() ==
        "since the resume: 2 trials in 20 s: 2 succeeded, 0 stopped early, 0 failed\n"
        "whole experiment: 6 trials in 2 min 00 s: 5 succeeded, 0 stopped early, 1 failed\n");
  const json summary = reporter.summary();
  CHECK(summary["trials"]["succeeded"] == 5);
  CHECK(summary["session"]["seconds"] == 20);
  CHECK(summary["session"]["trials"]["succeeded"] == 2);
  CHECK(summary["session"]["trials"]["failed"] == 0);
}

TEST_CASE("progress: time and trials of the earlier sessions are counted alike") {
  char* text = nullptr;
  std::size_t size = 0;
  ProgressOptions options;
  options.stream = ::open_memstream(&text, &size);
  options.terminal = true;
  options.max_trials = 40;
  ManualClock clock;
  {
    ProgressLine progress(options, clock);
    Reporter reporter({"abc", "/exp", {{"accuracy", true}}, 7}, progress);
    Tally tally;
    tally.succeeded = 10;
    reporter.go_on_from(tally, 100);
    clock.advance(20);
    tally.succeeded = 12;
    reporter.on_tally(tally);
    progress.redraw();
  }
  std::fclose(options.stream);
  CHECK_THAT(std::string(text, size),
             Catch::Contains("[12/40] 0 running, 2 min 00 s, about 4 min 40 s left"));
  ::free(text);
}

TEST_CASE("reporter: what it says of limits and trade-offs") {
  ManualClock clock;
  ProgressOptions options;
  options.quiet = true;
  ProgressLine progress(options, clock);
  SECTION("one objective") {
    Reporter reporter({"abc", "/exp", kLimited, 7}, progress);
    reporter.on_trial_changed(trial(1, result(0.5, 3)));
    CHECK(reporter.summary()["best"]["violation"] == 1);
    CHECK_THAT(reporter.summary_text(),
               Catch::Contains("no trial keeps the limits yet; nearest 0.5 (lowest, trial t0001)\n"
                               "  with seconds 3.0 (breaks the limit: at most 2)\n"
                               "  with size 0.0\n"));
    reporter.on_trial_changed(trial(2, result(0.75, 2)));
    CHECK(reporter.summary()["best"]["trial_job_id"] == "t0002");
    CHECK(reporter.summary()["best"]["objectives"] == json{{"loss", 0.75}, {"seconds", 2}});
    CHECK(reporter.summary()["best"]["violation"] == 0);
    CHECK_FALSE(reporter.summary()["session"].contains("trade_offs"));
    CHECK_THAT(reporter.summary_text(), Catch::Contains("best 0.75 (lowest, trial t0002)\n"
                                                        "  with seconds 2.0 (limit: at most 2)\n"));
  }
  SECTION("several") {
    Reporter reporter({"abc", "/exp", kThree, 7}, progress);
    reporter.on_trial_changed(trial(1, result(0.5, 3, 1)));
    CHECK(reporter.summary()["session"]["trade_offs"].empty());
    CHECK_THAT(reporter.summary_text(),
               Catch::Contains("no trial keeps the limits yet; nearest (minimize loss, seconds at "
                               "most 2, maximize size):\n"
                               "TRIAL  loss  seconds  size  PARAMETERS\n"
                               "t0001  0.5   3        1     {\"x\":0.5}\n"));
    reporter.on_trial_changed(trial(2, result(0.75, 2, 9)));
    reporter.on_trial_changed(trial(3, result(0.25, 2, 4)));
    const json summary = reporter.summary();
    CHECK(summary["best"]["trial_job_id"] == "t0003");
    REQUIRE(summary["session"]["trade_offs"].size() == 2);
    CHECK(summary["session"]["trade_offs"][1]["objectives"]["size"] == 9);
    CHECK_THAT(reporter.summary_text(), Catch::Contains("2 trade-offs (minimize loss, "));
  }
}

TEST_CASE("files: last lines") {
  const Folder folder;
  const auto write = [&](const std::string& text) { std::ofstream(folder.path / "f") << text; };
  const auto last = [&](int count) { return last_lines(folder.path / "f", count); };
  CHECK(last(3).empty());
  write("");
  CHECK(last(3).empty());
  write("a\nb\nc\n\n");
  CHECK(last(2) == "b\nc");
  CHECK(last(3) == "a\nb\nc");
  CHECK(last(9) == "a\nb\nc");
  write(std::string(100'000, 'x'));
  CHECK(last(2).size() == 4096);
}

}  // namespace attune::report_test
