#pragma once
// A manager whose trials do what they are told at once: each reports `x + 1 / resource` step after
// step, and ends by itself after the last. For tests of pauses; it checks what it is told.
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "protocol/capabilities.h"
#include "protocol/codec.h"

namespace attune {

class SmallManager {
 public:
  // Sends a command, and returns what has been answered once everything is handled.
  using Send = std::function<std::vector<Frame>(const std::string&, const std::string&)>;

  SmallManager(Send send, Capabilities can, int concurrency, int last_step)
      : send_(std::move(send)), can_(can), concurrency_(concurrency), last_step_(last_step) {}

  void start(const std::string& search_space) {
    tell("IN", search_space);
    request(concurrency_);
  }

  // One step of every trial that runs. False: none does.
  bool step() {
    std::vector<std::string> names;
    for (const auto& [name, job] : jobs_) {
      if (!job.paused) names.push_back(name);
    }
    for (const std::string& name : names) {
      if (const auto at = jobs_.find(name); at != jobs_.end() && !at->second.paused) run(name);
    }
    return !names.empty();
  }

  // Another daemon goes on. Trials that run go on too if the manager may name their jobs, else
  // under new ones from their first step.
  void restart(Send send, const std::string& search_space) {
    send_ = std::move(send);
    tell("IN", search_space);
    tell("FD", dump_json(finished_));
    json list = json::array();
    std::map<std::string, Job> jobs;
    for (auto& [name, job] : jobs_) {
      json entry = {{"parameter_id", job.id},
                    {"parameter_source", "resumed"},
                    {"parameters", job.parameters}};
      if (can_.pause) {
        entry["trial_job_id"] = name;
        if (job.paused) entry["paused"] = true;
        if (!job.checkpoint.empty()) entry["checkpoint"] = job.checkpoint;
        jobs[name] = job;
      } else {
        job.step = 0;
        jobs[name + "again"] = job;
      }
      list.push_back(std::move(entry));
    }
    jobs_ = std::move(jobs);
    exhausted_ = false;
    tell("AD", dump_json(list));
    request(concurrency_ - running());
  }

  int steps = 0;                           // of all trials
  std::vector<std::string> codes;          // of the extensions' commands, as they came
  std::map<std::string, int> checkpoints;  // that are kept: the step
  bool exhausted() const { return exhausted_; }
  std::size_t live() const { return jobs_.size(); }

 private:
  struct Job {
    json id, parameters;
    std::string text, checkpoint;
    int step = 0;
    bool paused = false;
  };

  void tell(const std::string& code, const std::string& payload) {
    for (Frame& frame : send_(code, payload)) answers_.push_back(std::move(frame));
    if (handling_) return;
    handling_ = true;
    while (!answers_.empty()) {
      const Frame frame = std::move(answers_.front());
      answers_.pop_front();
      std::visit([this, &frame](const auto& command) { on(command, frame); },
                 decode(frame).value());
    }
    handling_ = false;
  }

  void request(int count) {
    if (count > 0 && !exhausted_) tell("GE", std::to_string(count));
  }

  void run(const std::string& name) {
    Job& job = jobs_.at(name);
    const double value = job.parameters.at("x").get<double>() + 1.0 / (job.step + 1);
    const int sequence = job.step++;
    ++steps;
    metric(name, "PERIODICAL", sequence, value);
    const auto at = jobs_.find(name);
    if (at == jobs_.end() || at->second.paused || at->second.step < last_step_) return;
    metric(name, "FINAL", 0, value);
    finished_.push_back(
        {{"parameter", at->second.parameters}, {"value", value}, {"trialJobId", name}});
    end(name, "SUCCEEDED");
  }

  void metric(const std::string& name, const std::string& type, int sequence, double value) {
    tell("ME", dump_json({{"parameter_id", jobs_.at(name).id},
                          {"trial_job_id", name},
                          {"type", type},
                          {"sequence", sequence},
                          {"value", dump_json(value)}}));
  }

  void end(const std::string& name, const std::string& event) {
    const auto job = jobs_.extract(name).mapped();
    tell("EN", dump_json({{"trial_job_id", name}, {"event", event}, {"hyper_params", job.text}}));
    if (!job.paused) request(1);
  }

  std::string save(Job& job) {
    job.checkpoint = "c" + std::to_string(++saved_);
    checkpoints[job.checkpoint] = job.step;
    return job.checkpoint;
  }

  int running() const {
    int count = 0;
    for (const auto& [name, job] : jobs_) count += job.paused ? 0 : 1;
    return count;
  }

  void on(const NewTrialJob& command, const Frame& frame) {
    std::string name = command.resume_trial_job_id;
    if (name.empty()) {
      name = "J" + std::to_string(next_job_++);
    } else {
      codes.emplace_back("resume");
      ATTUNE_CHECK(can_.pause && jobs_.contains(name) && jobs_.at(name).paused);
    }
    Job& job = jobs_[name];
    job.id = to_json(command.parameter_id);
    ATTUNE_CHECK(ids_.insert(dump_json(job.id)).second);
    job.parameters = command.parameters;
    job.text = frame.payload;
    job.paused = false;
    if (!command.checkpoint_from.empty()) {
      codes.emplace_back("from");
      ATTUNE_CHECK(can_.checkpoint);
      job.step = checkpoints.at(command.checkpoint_from);
    }
    ATTUNE_CHECK(running() <= concurrency_);
  }
  void on(const KillTrialJob& command, const Frame&) { end(command.trial_job_id, "EARLY_STOPPED"); }
  void on(const PauseTrialJob& command, const Frame& frame) {
    codes.push_back(frame.code);
    Job& job = jobs_.at(command.trial_job_id);
    ATTUNE_CHECK(can_.pause && !job.paused);
    job.paused = true;
    json payload = {
        {"trial_job_id", command.trial_job_id}, {"event", "PAUSED"}, {"hyper_params", job.text}};
    if (can_.checkpoint) payload["checkpoint"] = save(job);
    tell("EN", dump_json(payload));
    exhausted_ = false;  // this trial may go on
    request(1);
  }
  void on(const SaveCheckpoint& command, const Frame& frame) {
    codes.push_back(frame.code);
    ATTUNE_CHECK(can_.checkpoint);
    const std::string id = save(jobs_.at(command.trial_job_id));
    tell("CK", dump_json({{"trial_job_id", command.trial_job_id}, {"checkpoint", id}}));
  }
  void on(const DropCheckpoint& command, const Frame& frame) {
    codes.push_back(frame.code);
    ATTUNE_CHECK(can_.checkpoint && checkpoints.erase(command.checkpoint) == 1);
  }
  void on(const NoMoreTrialJobs&, const Frame&) { exhausted_ = true; }
  void on(const Initialized&, const Frame&) {}
  template <class Other>
  void on(const Other&, const Frame&) {
    ATTUNE_CHECK(false);
  }

  Send send_;
  const Capabilities can_;
  const int concurrency_, last_step_;
  std::map<std::string, Job> jobs_;  // not ended
  std::set<std::string> ids_;
  json finished_ = json::array();
  std::deque<Frame> answers_;
  bool handling_ = false, exhausted_ = false;
  int next_job_ = 0, saved_ = 0;
};

}  // namespace attune
