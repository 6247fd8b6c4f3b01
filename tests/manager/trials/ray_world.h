#pragma once
// A world in which recorded scenarios of Ray Tune's TrialRunner (2018) happen again: scripted
// trainables, a scripted decider, and a backend that delivers one result a step, in turn.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manager/trials/trial_runner.h"

namespace attune::ray {

using Lines = std::vector<std::string>;

// Whose calls of one step are compared, each in its order.
struct Logs {
  Lines hooks;    // what the decider hears and says
  Lines backend;  // init, save, restore
};

// Names of the scenario <-> job ids of ours.
class Names {
 public:
  void add(const std::string& name, const std::string& job) {
    job_[name] = job;
    name_[job] = name;
  }
  const std::string& job(const std::string& name) const { return job_.at(name); }
  const std::string& name(const std::string& job) const { return name_.at(job); }
  bool has_job(const std::string& job) const { return name_.contains(job); }

 private:
  std::map<std::string, std::string> job_, name_;
};

// A FIFO scheduler with decisions by name and iteration ("a@1": "PAUSE").
class RayDecider final : public Decider {
 public:
  RayDecider(Names& names, Logs& logs, json decisions)
      : names_(names), logs_(logs), decisions_(std::move(decisions)) {}

  Result<void> start(Listener& l) override {
    listener = &l;
    return {};
  }
  void next(int count) override {
    asked_.push_back(count);
    answer();
  }
  std::optional<std::string> choose(const Startable& startable) override {
    auto job = startable.first_pending();
    if (!job && resumes) job = startable.first_paused();
    logs_.hooks.push_back("choose " + (job ? names_.name(*job) : "None"));
    return job;
  }
  void on_add(const std::string& job, const ProposedTrial& trial) override {
    names_.add(trial.parameters.at("name"), job);
    logs_.hooks.push_back("add " + names_.name(job));
  }
  Action on_result(const std::string& job, const std::string& text) override {
    const json metric = json::parse(text);
    const json value = json::parse(metric.at("value").get<std::string>());
    const auto iteration = value.at("training_iteration").get<int>();
    last_[job] = iteration;
    if (metric.at("type") == "FINAL") return Action::keep_going;
    const std::string& name = names_.name(job);
    const std::string said = decisions_.value(fmt::format("{}@{}", name, iteration), "CONTINUE");
    logs_.hooks.push_back(fmt::format("result {} {} {}", name, iteration, said));
    if (said == "PAUSE") return Action::pause;
    return said == "STOP" ? Action::stop : Action::keep_going;
  }
  void on_complete(const std::string& job, const json&) override {
    logs_.hooks.push_back(fmt::format("complete {} {}", names_.name(job), last_[job]));
  }
  void on_error(const std::string& job) override {
    logs_.hooks.push_back("error " + names_.name(job));
  }
  void on_remove(const std::string& job, TrialEnd::Event) override {
    logs_.hooks.push_back("remove " + names_.name(job));
  }
  void on_paused(const std::string&, const std::string&) override {}
  void on_pause_failed(const std::string&) override {}
  void on_checkpoint(const std::string&, const std::string&) override {}
  void import(const std::vector<ImportData::Record>&) override {}
  void readopt(const std::vector<Resumed>&) override {}
  void recall(const std::vector<Resumed>&) override {}
  void update_search_space(const json&) override {}
  void sync(const std::string&) override {}
  bool congested() const override { return false; }
  void close() override { listener->on_closed(); }
  void kill() override {}

  // What the search algorithm suggests from now on; none and `finished`: it never will again.
  void suggest(const Lines& names, bool finished) {
    for (const std::string& name : names) suggestions_.push_back(name);
    finished_ = finished;
    answer();
  }

  Listener* listener = nullptr;
  bool resumes = true;  // paused trials

 private:
  void answer() {
    while (!asked_.empty() && !suggestions_.empty()) {
      if (--asked_.front() == 0) asked_.pop_front();
      ProposedTrial trial;
      trial.parameter_id = ids_++;
      trial.parameters = {{"name", suggestions_.front()}};
      suggestions_.pop_front();
      listener->on_proposal(std::move(trial));
    }
    for (; finished_ && !asked_.empty(); asked_.pop_front()) listener->on_exhausted("");
  }

  Names& names_;
  Logs& logs_;
  json decisions_;
  std::deque<int> asked_;
  std::deque<std::string> suggestions_;
  std::map<std::string, int> last_;
  std::int64_t ids_ = 0;
  bool finished_ = false;
};

class RayBackend final : public TrialBackend {
 public:
  RayBackend(Names& names, Logs& logs, Resources capacity)
      : names_(names), logs_(logs), capacity_(std::move(capacity)) {}

  Result<void> start(const TrialStart& start) override {
    const std::string& name = names_.name(start.job_id);
    Trainable& t = trainables[name];
    logs_.backend.push_back("init " + name);
    if (t.failing_inits > 0) {
      --t.failing_inits;
      return fail("the constructor throws");
    }
    t.iteration = 0;
    if (!start.checkpoint.empty()) {
      t.iteration = checkpoints_.at(start.checkpoint);
      logs_.backend.push_back(fmt::format("restore {} {}", name, t.iteration));
      if (t.failing_restores > 0) {
        --t.failing_restores;
        finish(start.job_id, Ending::restore_failed);
        return {};
      }
    }
    runs_.insert(start.job_id);
    in_flight_.push_back(start.job_id);
    return {};
  }
  Result<Adoption> adopt(const TrialStart&, std::uint64_t) override { return Adoption::lost; }

  // Ray Tune waits for the result that is under way; the trial reports it as its last word.
  void stop(const std::string& job) override { end(job, Ending::stopped); }
  void pause(const std::string& job) override { end(job, Ending::paused); }
  void kill_all() override {}
  Result<void> give_parameter(const std::string&, std::int64_t, const std::string&) override {
    return {};
  }
  void save_checkpoint(const std::string& job, const std::string& id) override {
    const std::string& name = names_.name(job);
    checkpoints_[id] = trainables[name].iteration;
    logs_.backend.push_back(fmt::format("save {} {}", name, checkpoints_[id]));
    push(CheckpointStored{job, id, 1, ""});
  }
  void copy_checkpoint(const std::string&, const std::string&) override {}
  void delete_checkpoint(const std::string& id) override { checkpoints_.erase(id); }
  void release(const std::string&) override {}
  void set_path(const std::filesystem::path&) override {}
  Resources capacity() const override { return capacity_; }
  std::vector<TrialEvent> fetch_status_results() override { return std::exchange(events_, {}); }
  std::filesystem::path stderr_path(const std::string&) const override { return "/nowhere"; }

  // One more result, of the trial that has waited longest, unless the last one was not taken yet.
  void deliver_one() {
    if (trained_ || in_flight_.empty()) return;
    trained_ = in_flight_.front();
    in_flight_.pop_front();
    taken = false;
    train(*trained_, ReportMetricData::Type::periodical);
  }

  // Whose result was handled trains on.
  void end_step() {
    if (!trained_ || !std::exchange(taken, false)) return;
    if (runs_.contains(*trained_) && std::ranges::find(in_flight_, *trained_) == in_flight_.end())
      in_flight_.push_back(*trained_);
    trained_.reset();
  }

  struct Trainable {
    json script;
    int iteration = 0;
    int failing_inits = 0, failing_restores = 0;
    std::set<std::size_t> failed_once = {};
  };
  std::map<std::string, Trainable> trainables;
  std::function<void()> wake;
  bool taken = false;  // the runner has handled the last result

 private:
  void train(const std::string& job, ReportMetricData::Type type) {
    Trainable& t = trainables[names_.name(job)];
    const std::size_t at = std::min<std::size_t>(t.iteration, t.script.size() - 1);
    json item = t.script[at];
    if (item.is_array()) item = t.failed_once.insert(at).second ? json("ERR") : item[1];
    if (item == "ERR") {
      finish(job, Ending::failed);
      return;
    }
    ++t.iteration;
    json value = {{"training_iteration", t.iteration}, {"time_this_iter_s", 1}};
    if (item.is_object()) value.update(item);
    ReportMetricData metric;
    metric.type = type;
    metric.trial_job_id = job;
    metric.parameter_id = id_of ? id_of(job) : ParameterId();
    metric.value = value;
    const json text = {{"type", type == ReportMetricData::Type::final ? "FINAL" : "PERIODICAL"},
                       {"value", value.dump()}};
    push(TrialReport{job, text.dump(), metric, 0, 0, false});
  }
  void end(const std::string& job, Ending how) {
    if (!runs_.contains(job)) return;
    if (std::erase(in_flight_, job) > 0) train(job, ReportMetricData::Type::final);
    if (runs_.contains(job)) finish(job, how);
  }
  void finish(const std::string& job, Ending how) {
    runs_.erase(job);
    std::erase(in_flight_, job);
    TrialFinished finished;
    finished.job_id = job;
    finished.how = how;
    finished.detail = "scripted";
    push(finished);
  }
  void push(TrialEvent event) {
    events_.push_back(std::move(event));
    if (wake) wake();
  }

  Names& names_;
  Logs& logs_;
  Resources capacity_;
  std::set<std::string> runs_;
  std::deque<std::string> in_flight_;
  std::optional<std::string> trained_;
  std::map<std::string, int> checkpoints_;
  std::vector<TrialEvent> events_;

 public:
  std::function<ParameterId(const std::string&)> id_of;
};

struct Records final : TrialStore, TrialObserver {
  void add_trial(const TrialRecord& t) override { all[t.job_id] = t; }
  Result<Kept> begin_attempt(const TrialRecord&, const std::string&) override { return Kept{}; }
  void set_place(const TrialRecord&, const TrialPlace&, double) override {}
  void add_report(const TrialRecord&, const TrialReport&, const ReportVerdict&) override {
    taken();
  }
  void add_parameter(const TrialRecord&, std::int64_t, const ProposedTrial&) override {}
  void end_attempt(const TrialRecord&, const TrialFinished&) override { taken(); }
  void change_trial(const TrialRecord& t) override { all[t.job_id] = t; }
  void add_decision(const DecisionRecord&) override {}
  void add_checkpoint(const CheckpointStored&) override {}
  void drop_checkpoint(const std::string&) override {}
  void add_event(const RunnerEvent&) override {}
  void set_postponed(const std::string&) override {}
  void set_state(const RunnerState&) override {}
  Result<Kept> commit() override { return Kept{}; }
  void end(const ExperimentEnd&) override {}

  std::function<void()> taken;
  std::map<std::string, TrialRecord> all;
};

}  // namespace attune::ray
