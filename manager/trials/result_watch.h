#pragma once
// Notices early that an experiment comes to nothing: its trials end well, and none reports what is
// searched for.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/standing.h"
#include "manager/trials/trial_record.h"

namespace attune {

class ResultWatch {
 public:
  // `place`: where a trial should report, for messages.
  ResultWatch(std::vector<Objective> objectives, std::string place)
      : objectives_(std::move(objectives)), place_(std::move(place)) {}

  void restore(std::int64_t scored) { scored_ = scored; }

  // A trial has succeeded. How good it is; nothing when it lacks an objective.
  std::optional<Standing> take(const TrialRecord& trial);

  bool any_result() const { return scored_ > 0; }
  // Trials that succeeded in this session without a word of some objective. A number that is not
  // finite is a word: the configuration is bad, not the program.
  std::int64_t silent() const { return silent_; }
  // What a trial should have reported, and where; what the last one without it reports instead.
  std::string wanted_result() const;

 private:
  const std::vector<Objective> objectives_;
  const std::string place_;
  std::int64_t scored_ = 0;  // trials that succeeded with all objectives, in all sessions
  std::int64_t silent_ = 0;
  std::string reported_instead_;
};

}  // namespace attune
