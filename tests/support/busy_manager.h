#pragma once
// A manager whose trials do what managers report in practice and what they should not: several
// phases, failures, late and repeated results, results that are no numbers, imports, trials of the
// user's own, another search space, pauses and checkpoints that work or do not. What it says is a
// function of what it is answered and of its seed: so a session can be recorded once and compared
// with its resumed halves.
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/rng.h"
#include "protocol/codec.h"

namespace attune {

class BusyManager {
 public:
  // `resource`: the metric in which trials count their steps; empty: they report one number.
  BusyManager(std::string space, int concurrency, std::uint64_t seed, std::string resource = "")
      : space_(std::move(space)),
        resource_(std::move(resource)),
        concurrency_(concurrency),
        rng_(seed) {}

  // What it says next: the first is Initialize.
  Frame next() {
    ++said_;
    if (said_ == 1) return {"IN", space_};
    const std::size_t odd = draw(40);
    if (said_ > 10 && odd == 0) return import();
    if (odd == 1) return {"AD", customized()};
    if (odd == 2) return {"PI", ""};
    if (odd == 3) return metric("nobody", 900'000, "PERIODICAL", 0, "0.5");
    if (odd == 4 && said_ % 7 == 0) return {"SS", space_};
    if (odd == 5 && !ended_.empty()) return late();
    if (odd == 6 && !paused_.empty()) {  // which may be about to go on
      auto at = running_.insert(paused_.extract(paused_.begin())).position;
      return end("USER_CANCELED", at);
    }
    if (running_.size() < static_cast<std::size_t>(concurrency_) && wanted_ == 0 && !dry_) {
      wanted_ = concurrency_ - static_cast<int>(running_.size());
      return {"GE", std::to_string(wanted_)};
    }
    if (running_.empty()) {
      dry_ = false;  // perhaps there is more after all
      return {"PI", ""};
    }
    return step();
  }

  // What it was answered. Throws if the answer is against the rules.
  void hear(const Frame& frame) {
    const Command command = decode(frame).value();
    if (const auto* trial = std::get_if<NewTrialJob>(&command)) {
      start(*trial, frame.payload);
    } else if (std::holds_alternative<NoMoreTrialJobs>(command)) {
      wanted_ = 0;
      dry_ = true;
    } else if (const auto* kill = std::get_if<KillTrialJob>(&command)) {
      ++kills;
      if (const auto at = running_.find(kill->trial_job_id); at != running_.end()) {
        at->second.killed = true;
        at->second.complete = kill->complete;
      } else if (const auto rests = paused_.find(kill->trial_job_id); rests != paused_.end()) {
        rests->second.killed = true;
        running_.insert(paused_.extract(rests));
      }
    } else if (const auto* pause = std::get_if<PauseTrialJob>(&command)) {
      ++pauses;
      if (const auto at = running_.find(pause->trial_job_id); at != running_.end()) {
        at->second.pausing = true;
      }
    } else if (const auto* save = std::get_if<SaveCheckpoint>(&command)) {
      if (const auto at = running_.find(save->trial_job_id); at != running_.end()) {
        at->second.saving = true;
      }
    } else if (const auto* drop = std::get_if<DropCheckpoint>(&command)) {
      if (checkpoints_.erase(drop->checkpoint) == 0) {
        throw std::runtime_error("CD of a checkpoint that does not exist: " + drop->checkpoint);
      }
    }
  }

  int kills = 0, pauses = 0, resumes = 0, copies = 0;

 private:
  struct Trial {
    json id, parameters;
    std::string text;
    int step = 0, steps = 0;
    bool finished = false, killed = false, complete = false, pausing = false, saving = false;
  };

  void start(const NewTrialJob& trial, const std::string& text) {
    if (wanted_ > 0) --wanted_;
    const std::string& former = trial.resume_trial_job_id;
    const std::string job = former.empty() ? "J" + to_text(trial.parameter_id) : former;
    const std::string& from = trial.checkpoint_from;
    if (!from.empty() && !checkpoints_.contains(from)) {
      throw std::runtime_error("TR from a checkpoint that does not exist: " + from);
    }
    if (!from.empty()) ++copies;
    if (!former.empty()) {
      ++resumes;
      running_.insert(paused_.extract(former));  // nothing, if it has ended meanwhile
    }
    Trial& added = running_[job];
    added.id = to_json(trial.parameter_id);
    added.parameters = trial.parameters;
    added.text = text;
    added.steps += 2 + static_cast<int>(draw(6));
    added.pausing = false;
  }

  std::size_t draw(std::size_t n) { return rng_.index(n); }

  static std::string metric_text(const std::string& job, const json& id, const std::string& type,
                                 int sequence, const std::string& value) {
    return dump_json({{"parameter_id", id},
                      {"trial_job_id", job},
                      {"type", type},
                      {"sequence", sequence},
                      {"value", value}});
  }
  static Frame metric(const std::string& job, const json& id, const std::string& type, int sequence,
                      const std::string& value) {
    return {"ME", metric_text(job, id, type, sequence, value)};
  }

  // One thing that one of the running trials does.
  Frame step() {
    auto at = running_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(draw(running_.size())));
    auto& [job, trial] = *at;
    if (trial.saving && draw(3) != 0) return save(at);
    if (trial.killed) return end(trial.complete ? "SUCCEEDED" : "EARLY_STOPPED", at);
    if (trial.pausing && draw(3) == 0) return pause(at);
    if (trial.finished) return end("SUCCEEDED", at);
    if (draw(25) == 0) return end("FAILED", at);
    if (draw(30) == 0) {
      return {"ME", dump_json({{"parameter_id", trial.id},
                               {"trial_job_id", job},
                               {"type", "REQUEST_PARAMETER"},
                               {"sequence", 0},
                               {"parameter_index", 1}})};
    }
    if (trial.step < trial.steps) {
      const int sequence = trial.step++;
      return metric(job, trial.id, "PERIODICAL", sequence, value(trial, sequence));
    }
    trial.finished = true;
    return metric(job, trial.id, "FINAL", 0, draw(20) == 0 ? "NaN" : value(trial, trial.steps));
  }

  // A number that depends on the configuration and on the step.
  std::string value(const Trial& trial, int step) const {
    std::uint64_t hash = 1469598103934665603u;
    for (const char c : dump_json(trial.parameters)) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    }
    const double number = static_cast<double>(hash % 1000) / 1000 + 0.5 / (step + 1);
    if (resource_.empty()) return dump_json(number);
    return dump_json({{"default", number}, {resource_, step + 1}});
  }

  std::string fresh_checkpoint(const std::string& job) {
    return *checkpoints_.insert(job + "-" + std::to_string(said_)).first;
  }

  Frame end(const std::string& event, std::map<std::string, Trial>::iterator at) {
    const auto node = running_.extract(at);
    const auto& [job, trial] =
        std::pair<const std::string&, const Trial&>(node.key(), node.mapped());
    ended_.push_back({job, trial});
    return {"EN",
            dump_json({{"trial_job_id", job}, {"event", event}, {"hyper_params", trial.text}})};
  }

  Frame pause(std::map<std::string, Trial>::iterator at) {
    auto& [job, trial] = *at;
    const bool possible = draw(8) != 0;
    json said = {{"trial_job_id", job},
                 {"event", possible ? "PAUSED" : "PAUSE_FAILED"},
                 {"hyper_params", trial.text}};
    if (possible && draw(2) == 0) said["checkpoint"] = fresh_checkpoint(job);
    trial.pausing = trial.finished = trial.saving = false;
    if (possible) paused_.insert(running_.extract(at));
    return {"EN", dump_json(said)};
  }

  Frame save(std::map<std::string, Trial>::iterator at) {
    auto& [job, trial] = *at;
    trial.saving = false;
    const std::string saved = draw(8) != 0 ? fresh_checkpoint(job) : "";  // empty: it could not
    return {"CK", dump_json({{"trial_job_id", job}, {"checkpoint", saved}})};
  }

  Frame late() {
    const auto& [job, trial] = ended_[draw(ended_.size())];
    return metric(job, trial.id, draw(2) == 0 ? "FINAL" : "PERIODICAL", 0, "0.125");
  }

  Frame import() {
    json list = json::array();
    for (std::size_t i = 0; i < ended_.size() && i < 2; ++i) {
      const auto& [job, trial] = ended_[draw(ended_.size())];
      json record = {{"parameter", trial.parameters}, {"value", "0.25"}};
      if (draw(2) == 0) record["trialJobId"] = job;
      list.push_back(std::move(record));
    }
    return {"FD", dump_json(list)};
  }

  std::string customized() {
    const json parameters = ended_.empty() ? json::object() : ended_.back().second.parameters;
    return dump_json({{"parameter_id", nullptr},
                      {"parameter_source", "customized"},
                      {"parameters", parameters},
                      {"parameter_index", 0}});
  }

  const std::string space_, resource_;
  const int concurrency_;
  Rng rng_;
  std::uint64_t said_ = 0;
  int wanted_ = 0;
  bool dry_ = false;
  std::map<std::string, Trial> running_, paused_;
  std::set<std::string> checkpoints_;  // that the daemon has not dropped
  std::vector<std::pair<std::string, Trial>> ended_;
};

}  // namespace attune
