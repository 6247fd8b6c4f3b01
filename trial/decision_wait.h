#pragma once
// Waits for the decision about a report, where the experiment says `decisions: in-step`. Then the
// file .nni/answered of the trial exists, and its size is the number of reports of this attempt
// that the manager has had decided. A trial that is told to end loses the file.
#include <cstdint>
#include <filesystem>
#include <optional>

namespace attune {

// One thread at a time.
class DecisionWait {
 public:
  static constexpr double kPatience = 60;  // seconds; ATTUNE_DECISION_SECONDS replaces it

  DecisionWait() = default;
  DecisionWait(std::filesystem::path answered, double patience)
      : answered_(std::move(answered)), patience_(patience) {}

  // Returns when `reports` are decided, when the file does not exist, or after `patience` seconds.
  // In the last case nobody answers for now, and the trial goes on: later calls return at once
  // until the file has grown.
  void wait_for(std::int64_t reports);

 private:
  std::filesystem::path answered_;
  double patience_ = kPatience;
  std::optional<std::int64_t> given_up_;  // the size after a wait in vain
};

}  // namespace attune
