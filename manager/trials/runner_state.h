#pragma once
// What the trial runner must remember besides its trials, to go on as if it had never ended.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attune {

struct RunnerState {
  std::vector<int> requests;         // proposals that each request still lacks, the oldest first
  bool exhausted = false;            // the last answer was "no more", and no trial has ended since
  int declined = 0;                  // proposals in a row
  std::vector<std::string> saving;   // checkpoints under way
  std::vector<std::string> answers;  // of them, those that the decider waits for
  std::optional<double> best;        // the mark of the plateau rule,
  std::int64_t since_best = 0;       // and how many trials have not passed it

  bool operator==(const RunnerState&) const = default;
};

}  // namespace attune
