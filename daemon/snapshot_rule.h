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
    double seconds = 0;                // of the workers' work: a replay takes about as long
    double saving = 0;                 // seconds that saving their states took, the last time
  };

  // `clock` must outlive this object. Once there are `bytes` of records, and four times as many
  // as the newest snapshot has, a snapshot is due whatever a replay would cost.
  SnapshotRule(const Clock& clock, std::uint64_t bytes) : clock_(clock), bytes_(bytes) {}

  bool due(const Since& since) const;
  void begun();              // a snapshot is being written
  void ended(bool written);  // false: it could not be written

 private:
  const Clock& clock_;
  const std::uint64_t bytes_;
  double begun_at_ = 0;
  double rests_until_ = 0;    // until then only the bytes count
  double patient_until_ = 0;  // none before that: the last one could not be written
};

}  // namespace attune
