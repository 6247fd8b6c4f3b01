#pragma once
// What a manager may rely on, whatever it says: checked answer by answer.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "protocol/codec.h"
#include "space/parse.h"

namespace attune {

class ManagerRules {
 public:
  struct Trial {
    json id;
    std::string job, text = {};
    json parameters = json::object();
    std::int64_t step = 0;  // the next
  };
  // The daemon knows so few jobs that it may not know of an end.
  void few_jobs() { few_jobs_ = true; }
  // What a paused trial was to answer is refused by a NO of its own, for the same request.
  void pauses() { pauses_ = true; }

  // One that was given, or one that never was.
  Trial& trial(unsigned which) {
    return trials_.empty() ? nobody_ : trials_[which % trials_.size()];
  }

  void space(const std::string& text) {
    const auto value = parse_json(text);
    auto space = value ? parse_space(*value) : Result<Space>(fail("no JSON"));
    if (space) spaces_.push_back(*std::move(space));
  }

  void command(const Frame& frame) {
    const auto command = decode(frame);
    if (!command) return;
    std::visit([this](const auto& c) { told(c); }, *command);
  }

  void answer(const Frame& frame) {
    const Command command = decode(frame).value();
    std::visit([this, &frame](const auto& c) { hears(c, frame); }, command);
  }

 private:
  void told(const RequestTrialJobs& c) {
    if (c.count > 0) wanted_ += c.count;
  }
  void told(const Ping& c) { ++tokens_[c.token]; }
  void told(const ReportMetricData& c) {
    seen_.insert(c.trial_job_id);
    if (c.type == ReportMetricData::Type::request_parameter) ++parameters_wanted_[c.trial_job_id];
  }
  void told(const TrialEnd& c) {
    seen_.insert(c.trial_job_id);
    if (c.event == TrialEnd::Event::paused) {
      paused_.insert(c.trial_job_id);
    } else if (c.event != TrialEnd::Event::pause_failed && !few_jobs_) {
      ended_.insert(c.trial_job_id);
    }
  }
  void told(const AddCustomizedTrialJob& c) {  // what is listed runs again
    for (const auto& trial : c.trials) {
      seen_.insert(trial.trial_job_id);
      ended_.erase(trial.trial_job_id);
      killed_.erase(trial.trial_job_id);
      if (trial.paused) paused_.insert(trial.trial_job_id);
    }
  }
  template <class Other>
  void told(const Other&) {}

  void hears(const NewTrialJob& c, const Frame& frame) {
    const std::string id = to_text(c.parameter_id);
    ATTUNE_CHECK(given_.insert(id).second);
    ATTUNE_CHECK(--wanted_ >= 0);
    ATTUNE_CHECK(inside(c.parameters));
    const std::string& job = c.resume_trial_job_id;
    ATTUNE_CHECK(job.empty() || paused_.erase(job) == 1);
    trials_.push_back({.id = to_json(c.parameter_id),
                       .job = job.empty() ? "J" + id : job,
                       .text = frame.payload,
                       .parameters = c.parameters});
  }
  void hears(const NoMoreTrialJobs& c, const Frame&) {
    ATTUNE_CHECK(refused_.insert(to_text(c.parameter_id)).second || pauses_);
    ATTUNE_CHECK(!c.transient);
  }
  void hears(const SendTrialJobParameter& c, const Frame&) {
    ATTUNE_CHECK(given_.insert(to_text(c.parameter_id)).second);
    ATTUNE_CHECK(--parameters_wanted_[c.trial_job_id] >= 0);
    ATTUNE_CHECK(c.parameters.is_null() || inside(c.parameters));
  }
  void hears(const KillTrialJob& c, const Frame&) {
    ATTUNE_CHECK(seen_.contains(c.trial_job_id));
    ATTUNE_CHECK(!ended_.contains(c.trial_job_id));
    ATTUNE_CHECK(killed_.insert(c.trial_job_id).second);
  }
  void hears(const PauseTrialJob& c, const Frame&) {
    ATTUNE_CHECK(seen_.contains(c.trial_job_id));
    ATTUNE_CHECK(!ended_.contains(c.trial_job_id) && !killed_.contains(c.trial_job_id));
  }
  void hears(const Pong& c, const Frame&) { ATTUNE_CHECK(--tokens_[c.token] >= 0); }
  template <class Other>
  void hears(const Other&, const Frame&) {}

  bool inside(json parameters) const {
    if (parameters.is_object()) parameters.erase("TRIAL_BUDGET");
    for (const Space& space : spaces_) {
      if (point_from_json(space, parameters)) return true;
      // BatchTuner gives the values of its one choice, whatever they are.
      if (space.params.size() != 1) continue;
      const json whole = {{space.params[0].name, parameters}};
      if (point_from_json(space, whole)) return true;
    }
    return false;
  }

  bool few_jobs_ = false, pauses_ = false;
  std::vector<Space> spaces_;  // all that were ever sent
  std::vector<Trial> trials_;
  Trial nobody_{.id = 1'000'000, .job = "nobody"};
  std::set<std::string> given_, refused_, seen_, ended_, killed_, paused_;
  std::map<std::string, int> tokens_, parameters_wanted_;
  std::int64_t wanted_ = 0;  // trials of all requests
};

}  // namespace attune
