#include "daemon/snapshot_rule.h"

#include <algorithm>

namespace attune {
namespace {

// Seconds of replay: with reading the file and loading the snapshot a daemon is back within a
// second.
constexpr double kMostSeconds = 0.25;
// Seconds of work for each second that saving the states took. So saving costs 5 % of the work;
// building the text of the snapshot, on another thread, takes about as long again.
constexpr double kWorkForSaving = 20;
// Seconds of rest for each second of writing. Writing mostly waits for the disk, but on a machine
// with one core it takes time from the workers.
constexpr double kRestForWriting = 5;
// Bytes of records for each byte of the newest snapshot. With a state that grows with the records
// as Medianstop's does (a sixth of their bytes), a million reports at once bring seven snapshots;
// with 2 they brought sixteen, and cost a third of the throughput.
constexpr std::uint64_t kBytesForBytes = 4;
// Seconds until the next try after a snapshot that could not be written.
constexpr double kPatience = 1;

}  // namespace

bool SnapshotRule::due(const Since& since) const {
  const double now = clock_.now();
  if (since.bytes == 0 || now < patient_until_) return false;
  if (since.bytes >= std::max(bytes_, kBytesForBytes * since.snapshot_bytes)) return true;
  return now >= rests_until_ &&
         since.seconds >= std::max(kMostSeconds, kWorkForSaving * since.saving);
}

void SnapshotRule::begun() { begun_at_ = clock_.now(); }

void SnapshotRule::ended(bool written) {
  const double now = clock_.now();
  rests_until_ = now + kRestForWriting * (now - begun_at_);
  patient_until_ = written ? now : now + kPatience;
}

}  // namespace attune
