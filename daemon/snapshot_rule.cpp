#include "daemon/snapshot_rule.h"

#include <algorithm>

namespace attune {
namespace {

// Of replay: with reading the file and loading the snapshot a daemon is back within a second.
constexpr double kMostSeconds = 0.25;
// So much work for each second in which the workers collect their states instead: those are 5 % of
// it, and building the text of the snapshot, on another thread, takes about as long again.
constexpr double kWorkForSaving = 20;
// So long a rest for each second of writing. That is mostly the disk, but on a machine with one
// core it is in the way.
constexpr double kRestForWriting = 5;
constexpr double kPatience = 1;

}  // namespace

bool SnapshotRule::due(const Since& since) const {
  const double now = clock_.now();
  if (since.bytes == 0 || now < patient_until_) return false;
  if (since.bytes >= std::max(bytes_, 2 * since.snapshot_bytes)) return true;
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
