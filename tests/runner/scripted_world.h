#pragma once
// A world for the experiment loop that is stepped by hand: no processes, no timers, no pipes.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/experiment_loop.h"

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
  void on_result(const std::string& job, const std::string& text) override {
    calls.push_back("result " + job + " " + text);
    if (text == "bad") listener->on_stop(job, "it is bad");
  }
  void on_complete(const std::string& job) override { calls.push_back("complete " + job); }
  void on_error(const std::string& job) override { calls.push_back("error " + job); }
  void on_remove(const std::string& job, TrialEnd::Event event) override {
    calls.push_back(fmt::format("remove {} {}", job,
                                event == TrialEnd::Event::early_stopped ? "early" : "user"));
  }
  bool congested() const override { return full; }
  void close() override { calls.push_back("close"); }
  void kill() override { calls.push_back("kill"); }

  void propose() {
    const auto id = proposed++;
    listener->on_proposal({id, {{"x", id}}, fmt::format("text {}", id)});
  }
  std::vector<std::string> take() { return std::exchange(calls, {}); }

  Listener* listener = nullptr;
  std::vector<std::string> calls;
  std::int64_t proposed = 0;
  bool answers_at_once = false;
  bool full = false;
};

class FakeBackend final : public TrialBackend {
 public:
  Result<void> start(const TrialStart& trial) override {
    if (!start_error.empty()) return fail(start_error);
    started.push_back(trial);
    return {};
  }
  void stop(const std::string& job) override { stopped.push_back(job); }
  void stop_all() override {}
  void kill_all() override { killed = true; }
  std::vector<TrialEvent> fetch_status_results() override { return std::exchange(events, {}); }
  std::vector<std::string> busy_trial_ids() const override { return {}; }
  std::filesystem::path stdout_path(const std::string& job) const override {
    return "/nowhere/" + job;
  }
  std::filesystem::path stderr_path(const std::string& job) const override {
    return "/nowhere/" + job;
  }

  std::vector<TrialStart> started;
  std::vector<std::string> stopped;
  std::vector<TrialEvent> events;
  std::string start_error;
  bool killed = false;
};

struct Notes final : LoopObserver {
  void on_change(const Tally& t) override { tally = t; }
  Result<void> on_trial_end(const TrialRecord& trial) override {
    trials.push_back(trial);
    if (!error.empty()) return fail(error);
    return {};
  }
  void on_warning(const std::string& text) override { warnings.push_back(text); }
  void on_done(const Outcome& o) override { outcome = o; }

  Tally tally;
  std::vector<TrialRecord> trials;
  std::vector<std::string> warnings;
  std::optional<Outcome> outcome;
  std::string error;
};

struct World {
  explicit World(LoopLimits limits = {2, 3, {}, {}})
      : loop(limits, decider, backend, clock, notes, Log()) {
    loop.start();
  }
  void ready() { loop.on_ready(); }
  void report(const std::string& job, double value, bool final = true,
              const std::string& text = "ok", const ParameterId& id = {}) {
    ReportMetricData metric;
    metric.type = final ? ReportMetricData::Type::final : ReportMetricData::Type::periodical;
    metric.parameter_id = id.index() == 0 ? ParameterId(std::stoll(job.substr(1))) : id;
    metric.value = value;
    backend.events.push_back(TrialReport{job, text, metric});
  }
  void end(const std::string& job, bool success = true) {
    backend.events.push_back(TrialFinished{job, success, success ? "exit code 0" : "exit code 1"});
  }

  ScriptedDecider decider;
  FakeBackend backend;
  ManualClock clock;
  Notes notes;
  ExperimentLoop loop;
};

}  // namespace attune
