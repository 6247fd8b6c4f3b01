#pragma once
// The state of the trial runner that the store keeps besides the trials, so that a later manager
// continues as if this one had never ended.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attune {

struct RunnerState {
  std::vector<int> requests;         // proposals that each open request lacks, the oldest first
  bool exhausted = false;            // ProposalDesk::is_exhausted()
  int declined = 0;                  // proposals declined in a row
  std::vector<std::string> saving;   // checkpoints that are being saved
  std::vector<std::string> answers;  // those of them that the decider waits for
  std::vector<std::string> held;     // checkpoints that the decider may name
  // What is no longer needed, but may still be on the disk: checkpoints, and job ids of trials that
  // TrialBackend::release() was told of.
  std::vector<std::string> deleting, releasing;
  std::optional<double> best;   // TuningStatus::best()
  std::int64_t since_best = 0;  // TuningStatus::scores_since_best()

  bool operator==(const RunnerState&) const = default;
};

}  // namespace attune
