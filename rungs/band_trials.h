#pragma once
// Which trial runs each configuration of the bands, and which paused trials are still to be
// stopped. A configuration has the id of its first trial. When that trial has ended, another one
// may go on with the configuration.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "rungs/band.h"
#include "rungs/trial_quota.h"

namespace attune {

class BandTrials {
 public:
  struct Runner {
    TrialId trial = 0;
    double budget = 0;        // that the trial was told
    bool ended = false;       // the trial has completed
    std::string reason = {};  // for a human: why the configuration may go on
  };
  // A paused trial that left its bracket when no report asked for decisions.
  struct Stop {
    TrialId configuration = 0;
    double budget = 0;
    std::string reason = {};
    bool complete = false;
    bool resumed = false;
  };

  explicit BandTrials(const TrialQuota& quota) : quota_(quota) {}

  void begin(TrialId trial, double budget);  // with a configuration of its own
  void withdraw(TrialId trial);              // it was proposed, and does not begin after all
  // The configuration goes on with this budget. If its trial has ended, `next` takes its place.
  // Returns the former runner.
  Runner go_on(TrialId configuration, TrialId next, double budget);
  void may_go_on(TrialId configuration, const std::string& reason) {
    runners_.at(configuration).reason = reason;
  }
  void end(TrialId configuration) { runners_.at(configuration).ended = true; }
  void leave(TrialId configuration) { runners_.erase(configuration); }
  void ran(TrialId trial) { quota_.ran(trial); }

  // The configuration that the trial runs now, if it is in a bracket and the trial has not ended.
  std::optional<TrialId> run_by(TrialId trial) const;
  TrialId configuration_of(TrialId trial) const;  // also of one that has left
  const Runner& runner(TrialId configuration) const { return runners_.at(configuration); }
  const std::map<TrialId, Runner>& runners() const { return runners_; }
  std::vector<TrialId> configurations() const;  // that the trials and the stops need

  const TrialQuota& quota() const { return quota_; }

  void stop(TrialId trial, const Stop& stop) { stops_[trial] = stop; }
  const std::map<TrialId, Stop>& stops() const { return stops_; }
  std::map<TrialId, Stop> take_stops() { return std::exchange(stops_, {}); }
  // The first trial to be stopped that was not returned here before.
  std::optional<std::pair<TrialId, Stop>> resume_stop();

  // The end of the trial is known: nothing more is heard of it. Returns whether it was declined.
  bool told(TrialId trial, End end);

  json save() const;
  // All or nothing. The configurations must be those of the bands.
  Result<void> load(const json& state, const Bands& bands);

 private:
  TrialQuota quota_;
  std::map<TrialId, Runner> runners_;      // by configuration
  std::map<TrialId, TrialId> successors_;  // trials that go on with the configuration of another
  std::map<TrialId, Stop> stops_;          // by trial
};

}  // namespace attune
