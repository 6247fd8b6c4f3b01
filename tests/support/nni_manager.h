#pragma once
// NNI's manager as far as its tuner sees it: what it sends when an experiment begins and when it is
// resumed, in its order, and what it forgets when it is killed. Trials end when a test says so.
//
//   NNI <= 2.9    resume: IN, FD with the finished trials, GE; the others are FAILED
//   NNI >= 2.10   resume: IN, FD, AD with the trials that ran, which run again as other jobs under
//                 their old parameter ids, GE with the whole concurrency
//
// A configuration that was answered (TR) and has not been started is forgotten.
#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "base/json.h"
#include "protocol/frame.h"

namespace attune {

struct NniTrial {
  std::string job = {};
  json hyper_params = {};  // the TR; of a trial that runs again, as AD has it
  bool ended = false;
  std::string value = {};  // as text; empty: none
  json parameters() const { return hyper_params.at("parameters"); }
};

// `Daemon`: send(code, payload) and receive() -> optional<Frame>.
class NniManager {
 public:
  NniManager(std::string space, int concurrency, bool runs_again)
      : space_(std::move(space)), concurrency_(concurrency), runs_again_(runs_again) {}

  template <class Daemon>
  void create(Daemon& daemon) {
    initialize(daemon);
    ask(daemon, concurrency_);
    start_waiting(concurrency_);
  }

  // After the former one was killed or stopped.
  template <class Daemon>
  void resume(Daemon& daemon) {
    waiting_.clear();
    initialize(daemon);
    json finished = json::array(), again = json::array();
    std::vector<NniTrial> running;
    for (NniTrial& trial : trials) {
      if (trial.ended && !trial.value.empty()) {
        finished.push_back(
            {{"parameter", trial.parameters()}, {"value", trial.value}, {"trialJobId", trial.job}});
      }
      if (trial.ended) continue;
      trial.ended = true;  // under its former job
      if (!runs_again_) continue;
      json entry = trial.hyper_params;
      entry["parameter_source"] = "resumed";
      again.push_back(entry);
      running.push_back({.job = new_job(), .hyper_params = std::move(entry)});
    }
    daemon.send("FD", dump_json(finished));
    if (runs_again_) daemon.send("AD", dump_json(again));
    trials.insert(trials.end(), running.begin(), running.end());
    ask(daemon, concurrency_);
    start_waiting(concurrency_ - static_cast<int>(running.size()));
  }

  // The oldest trial that runs ends with this result, and its loop asks for another one.
  template <class Daemon>
  bool finish_one(Daemon& daemon, const std::string& value) {
    const auto trial = std::ranges::find_if(trials, [](const NniTrial& one) { return !one.ended; });
    if (trial == trials.end()) return false;
    daemon.send("ME", dump_json({{"parameter_id", trial->hyper_params.at("parameter_id")},
                                 {"trial_job_id", trial->job},
                                 {"type", "FINAL"},
                                 {"sequence", 0},
                                 {"value", value}}));
    daemon.send("EN", dump_json({{"trial_job_id", trial->job},
                                 {"event", "SUCCEEDED"},
                                 {"hyper_params", dump_json(trial->hyper_params)}}));
    trial->value = value;
    trial->ended = true;
    ask(daemon, 1);
    start_waiting(1);
    return true;
  }

  // The configurations of the trials that have a result, as text, in order.
  std::vector<std::string> evaluated() const {
    std::vector<std::string> points;
    for (const NniTrial& trial : trials) {
      if (!trial.value.empty()) points.push_back(dump_json(trial.parameters()));
    }
    std::ranges::sort(points);
    return points;
  }

  std::vector<NniTrial> trials;  // that were started, as in its database
  bool no_more = false;          // the last request was answered by NO

 private:
  template <class Daemon>
  void initialize(Daemon& daemon) {
    daemon.send("IN", space_);
    while (auto frame = daemon.receive()) {
      if (frame->code == "ID") return;
    }
  }

  // Reads until all of it is answered, or there is no more.
  template <class Daemon>
  void ask(Daemon& daemon, int count) {
    daemon.send("GE", std::to_string(count));
    no_more = false;
    while (count > 0 && !no_more) {
      const auto frame = daemon.receive();
      if (!frame) return;
      if (frame->code == "NO") no_more = true;
      if (frame->code != "TR") continue;
      --count;
      waiting_.push_back(parse_json(frame->payload).value());
    }
  }

  void start_waiting(int places) {
    for (; places > 0 && !waiting_.empty(); --places) {
      trials.push_back({.job = new_job(), .hyper_params = std::move(waiting_.front())});
      waiting_.pop_front();
    }
  }

  std::string new_job() { return "job" + std::to_string(trials.size() + jobs_++); }

  std::string space_;
  int concurrency_;
  bool runs_again_;
  std::size_t jobs_ = 0;
  std::deque<json> waiting_;
};

}  // namespace attune
