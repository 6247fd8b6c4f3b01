#include "daemon/recorder.h"

#include <algorithm>

#include "daemon/kept_answers.h"
#include "daemon/version.h"

namespace attune {
namespace {

// After so long what has come since the last snapshot may have cost the tuner much time.
constexpr std::chrono::seconds kSnapshotAge{60};
constexpr std::chrono::seconds kPatience{1};

}  // namespace

void Recorder::begin(BeginHow how, const Frame& first) {
  if (!file_) return;
  if (!has_header_) {
    has_header_ = true;
    if (first.code == "IN") header_["search_space"] = parse_json(first.payload).value_or(json());
    file_->append({RecordKind::header, dump_json(header_)});
  }
  file_->append({RecordKind::begin, encode_begin({how, std::string(kVersion)})});
}

void Recorder::append(JournalRecord record) {
  if (file_) file_->append(std::move(record));
}

bool Recorder::snapshot_due() const {
  if (!file_ || file_->writing_snapshot() || !file_->trouble().empty()) return false;
  const std::uint64_t since = file_->bytes_since_snapshot();
  const auto age = SteadyClock::now() - tried_at_;
  const bool failed = since > tried_bytes_ && tried_bytes_ > 0;
  if (failed && age < kPatience) return false;
  const std::uint64_t most = std::max<std::uint64_t>(snapshot_bytes_, 2 * file_->snapshot_bytes());
  return since >= most || (since > 0 && age >= kSnapshotAge);
}

void Recorder::write_snapshot(json state, std::uint64_t answers, std::uint64_t acknowledged) {
  tried_at_ = SteadyClock::now();
  tried_bytes_ = file_->bytes_since_snapshot();
  file_->write_snapshot(header_, std::move(state),
                        std::make_unique<KeptAnswers>(answers, acknowledged));
}

}  // namespace attune
