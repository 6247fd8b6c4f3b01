#pragma once
// Counts trials that succeed and yet do not report the objectives, so that the runner can end an
// experiment whose program reports the wrong metrics.
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

  // Counts a trial that has succeeded. Returns how good it is, or nothing when the value of an
  // objective is missing or not finite.
  std::optional<Standing> take(const TrialRecord& trial);

  bool any_result() const { return scored_ > 0; }
  // The trials of this session that succeeded without a number for some objective. NaN and infinity
  // are numbers here: then the configuration is bad, not the program.
  std::int64_t silent() const { return silent_; }
  // For error messages: what a trial should report, where, and which metrics trials report instead.
  std::string wanted_result() const;

 private:
  const std::vector<Objective> objectives_;
  const std::string place_;
  std::int64_t scored_ = 0;  // trials of all sessions that succeeded with all objectives
  std::int64_t silent_ = 0;
  std::string reported_instead_;
};

}  // namespace attune
