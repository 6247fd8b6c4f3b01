#pragma once
// A world for the trial runner that is stepped by hand: no processes, no timers, no pipes.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manager/trials/trial_runner.h"

namespace attune {

// Notes what it is told; the test answers through `listener`.
class ScriptedDecider final : public Decider {
 public:
  Result<void> start(Listener& l) override {
    listener = &l;
    return {};
  }
  void next(int count) override {
    calls.push_back(fmt::format("next {}", count));
    for (; answers_at_once && count > 0; --count) propose();
  }
  void on_add(const std::string& job, const ProposedTrial&) override {
    calls.push_back("add " + job);
  }
  Action on_result(const std::string& job, const std::string& text) override {
    calls.push_back("result " + job + " " + text);
    if (text == "bad") listener->on_stop(job, "it is bad");
    return Action::keep_going;
  }
  void on_complete(const std::string& job, const json& result) override {
    calls.push_back("complete " + job);
    results[job] = result;
  }
  void on_error(const std::string& job) override { calls.push_back("error " + job); }
  void on_remove(const std::string& job, TrialEnd::Event event) override {
    calls.push_back(fmt::format("remove {} {}", job,
                                event == TrialEnd::Event::early_stopped ? "early" : "user"));
  }
  void on_paused(const std::string& job, const std::string& checkpoint) override {
    calls.push_back("paused " + job + " " + checkpoint);
  }
  void on_pause_failed(const std::string& job) override { calls.push_back("unpaused " + job); }
  void on_checkpoint(const std::string& job, const std::string& checkpoint) override {
    calls.push_back("saved " + job + " " + checkpoint);
  }
  void import(const std::vector<ImportData::Record>& records) override {
    calls.push_back(fmt::format("import {}", records.size()));
  }
  void readopt(const std::vector<Resumed>& trials) override {
    for (const Resumed& t : trials)
      calls.push_back("readopt " + t.job_id + (t.paused ? " paused" : ""));
  }
  void recall(const std::vector<Resumed>& trials) override {
    for (const Resumed& t : trials) calls.push_back("recall " + t.job_id);
  }
  bool remembers() const override { return memory; }
  void update_search_space(const json&) override { calls.push_back("space"); }
  void sync(const std::string& token) override { calls.push_back("sync " + token); }
  bool congested() const override { return full; }
  void close() override { calls.push_back("close"); }
  void kill() override { calls.push_back("kill"); }

  void propose(const std::string& resume = "", const std::string& from = "") {
    const auto id = proposed++;
    listener->on_proposal({id, {{"x", id}}, fmt::format("text {}", id), resume, from, reason});
  }
  std::vector<std::string> take() { return std::exchange(calls, {}); }

  Listener* listener = nullptr;
  std::vector<std::string> calls;
  std::map<std::string, json> results;  // of completed trials
  std::int64_t proposed = 0;
  std::string reason;  // of the next proposals
  bool answers_at_once = false;
  bool full = false;
  bool memory = false;
};

class FakeBackend final : public TrialBackend {
 public:
  Result<void> start(const TrialStart& trial) override {
    if (!start_error.empty()) return fail(start_error);
    started.push_back(trial);
    return {};
  }
  Result<Adoption> adopt(const TrialStart& trial, std::uint64_t position) override {
    if (!adopt_error.empty()) return fail(adopt_error);
    adopted.push_back(fmt::format("{} attempt {} from {}", trial.job_id, trial.attempt, position));
    return adoption;
  }
  void stop(const std::string& job) override { stopped.push_back(job); }
  void pause(const std::string& job) override { paused.push_back(job); }
  void kill_all() override { killed = true; }
  Result<void> give_parameter(const std::string& job, std::int64_t index,
                              const std::string& text) override {
    given.push_back(fmt::format("{} {} {}", job, index, text));
    return {};
  }
  Result<void> answer(const std::string& job, std::int64_t reports) override {
    answered.push_back(fmt::format("{} {}", job, reports));
    return {};
  }
  void save_checkpoint(const std::string& job, const std::string& id) override {
    saves.push_back(id);
    if (!saves_at_once) return;
    events.push_back(CheckpointStored{job, id, 10, ""});
    wake();
  }
  void copy_checkpoint(const std::string&, const std::string&) override {}
  void delete_checkpoint(const std::string& id) override { deleted.push_back(id); }
  void release(const std::string& job) override { released.push_back(job); }
  Deletions unfinished_deletions() const override { return unfinished; }
  void set_path(const std::filesystem::path&) override {}
  Resources capacity() const override { return {4, 1, 1e9, {{"licence", 1}}}; }
  std::vector<TrialEvent> fetch_status_results() override { return std::exchange(events, {}); }
  std::filesystem::path stderr_path(const std::string& job) const override {
    return "/nowhere/" + job;
  }

  std::vector<TrialStart> started;
  std::vector<std::string> stopped, paused, given, answered, saves, deleted, released, adopted;
  Deletions unfinished;
  std::vector<TrialEvent> events;
  std::string start_error, adopt_error;
  std::function<void()> wake;
  bool killed = false, saves_at_once = true;
  Adoption adoption = Adoption::taken;
};

// The store and the observer of a runner: both remember what they are told.
struct Notes final : TrialStore, TrialObserver {
  void add_trial(const TrialRecord&) override {}
  Result<Kept> begin_attempt(const TrialRecord&, const std::string&) override { return commit(); }
  void set_place(const TrialRecord& trial, const TrialPlace& place, double since) override {
    places.push_back(trial.job_id + " on " +
                     (place.gpus.empty() ? place.worker : "gpu " + place.gpus));
    began.push_back(since);
  }
  void add_report(const TrialRecord& trial, const TrialReport&,
                  const ReportVerdict& verdict) override {
    if (!verdict.why.empty()) ignored.push_back(trial.job_id + ": " + verdict.why);
  }
  void add_parameter(const TrialRecord&, std::int64_t, const ProposedTrial&) override {}
  void end_attempt(const TrialRecord&, const TrialFinished&) override {}
  void change_trial(const TrialRecord&) override {}
  void add_decision(const DecisionRecord& d) override {
    decisions.push_back(fmt::format("{} {} by {}: {}", d.action, d.job_id, d.by, d.reason));
  }
  void add_checkpoint(const CheckpointStored& stored) override { saved.push_back(stored); }
  void drop_checkpoint(const std::string&) override {}
  void add_event(const RunnerEvent&) override {}
  void set_postponed(const std::string&) override {}
  void set_state(const RunnerState& s) override { state = s; }
  Result<Kept> commit() override {
    if (!error.empty()) return fail(error);
    return Kept{trouble, ""};
  }
  void end(const ExperimentEnd&) override {}

  void on_tally(const Tally& t) override { tally = t; }
  void on_trial_changed(const TrialRecord& trial) override {
    all[trial.job_id] = trial;
    if (has_ended(trial.status)) trials.push_back(trial);
  }
  void on_event(const RunnerEvent& event) override {
    if (event.kind == EventKind::warning) warnings.push_back(event.text);
    if (event.kind == EventKind::notice) notices.push_back(event.text);
  }
  void on_done(const ExperimentEnd& o) override { outcome = o; }

  Tally tally;
  std::vector<TrialRecord> trials;  // in the order of their ends
  std::map<std::string, TrialRecord> all;
  std::vector<std::string> warnings, notices, decisions, places, ignored;
  std::vector<double> began;  // of places
  std::vector<CheckpointStored> saved;
  std::optional<ExperimentEnd> outcome;
  std::string error, trouble;  // of whoever should remember
  RunnerState state;
};

struct World {
  static RunnerOptions limits(int concurrency, std::optional<std::int64_t> max_trials) {
    RunnerOptions options;
    options.concurrency = concurrency;
    options.max_trials = max_trials;
    return options;
  }

  explicit World(RunnerOptions options = limits(2, 3))
      : runner(std::move(options), decider, backend, clock, notes, notes, Log()) {
    backend.wake = [this] { runner.wake(); };
  }
  void ready() {
    runner.start();
    runner.on_ready();
    runner.pump();
  }
  void pump() {
    runner.wake();
    runner.pump();
  }
  void propose(const std::string& resume = "", const std::string& from = "") {
    decider.propose(resume, from);
    pump();
  }
  void exhausted(const std::string& reason = "") {
    runner.on_exhausted(reason);
    pump();
  }
  void closed() {
    runner.on_closed();
    pump();
  }
  void report(const std::string& job, json value, bool final = true, const std::string& text = "ok",
              const ParameterId& id = {}) {
    ReportMetricData metric;
    metric.type = final ? ReportMetricData::Type::final : ReportMetricData::Type::periodical;
    metric.parameter_id = id.index() == 0 ? ParameterId(std::stoll(job.substr(1))) : id;
    metric.value = std::move(value);
    if (!final) {
      const auto starts = std::ranges::count(backend.started, job, &TrialStart::job_id);
      metric.sequence = sequences[{job, starts}]++;
    }
    backend.events.push_back(TrialReport{job, text, metric, clock.wall(), 0, false});
  }
  void end(const std::string& job, Ending how = Ending::succeeded, bool with_grace = false) {
    TrialFinished finished;
    finished.job_id = job;
    finished.how = how;
    finished.detail = how == Ending::succeeded ? "exit code 0" : "exit code 1";
    finished.time = clock.wall();
    finished.with_grace = with_grace;
    backend.events.push_back(finished);
  }

  std::map<std::pair<std::string, std::ptrdiff_t>, std::int64_t> sequences;  // of each attempt
  ScriptedDecider decider;
  FakeBackend backend;
  ManualClock clock;
  Notes notes;
  TrialRunner runner;
};

// One that an earlier manager left.
inline RestoredExperiment::Trial live_trial(int i, TrialStatus status) {
  RestoredExperiment::Trial trial;
  trial.record.sequence = i;
  trial.record.job_id = job_id_of(i);
  trial.record.status = status;
  trial.record.attempts = status == TrialStatus::pending ? 0 : 1;
  trial.record.proposed = {std::int64_t{i}, {{"x", i}}, "old", "", ""};
  return trial;
}

}  // namespace attune
