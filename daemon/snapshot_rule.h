#pragma once
// When the journal gets a snapshot: often enough that a replay is short, seldom enough that
// snapshots cost little beside the work that they save. Io thread only.
#include <cstdint>

#include "os/clock.h"

namespace attune {

class SnapshotRule {
 public:
  // Since the newest snapshot.
  struct Since {
    std::uint64_t bytes = 0;           // of records
    std::uint64_t snapshot_bytes = 0;  // of that snapshot; 0: there is none
    double seconds = 0;                // that the workers have worked: a replay takes as long
    double saving = 0;                 // that collecting their states took, the last time
  };

  // `clock` lives longer. From `bytes` of records on a snapshot is due, whatever they cost.
  SnapshotRule(const Clock& clock, std::uint64_t bytes) : clock_(clock), bytes_(bytes) {}

  bool due(const Since& since) const;
  void begun();              // one is being written
  void ended(bool written);  // or could not be

 private:
  const Clock& clock_;
  const std::uint64_t bytes_;
  double begun_at_ = 0;
  double rests_until_ = 0;    // whatever a replay would cost
  double patient_until_ = 0;  // after one that could not be written
};

}  // namespace attune
