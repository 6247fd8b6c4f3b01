#include "daemon/recorder.h"

#include <utility>

#include "daemon/kept_answers.h"

namespace attune {

void Recorder::begin(const Begin& begin, const Frame& first) {
  if (!file_) return;
  if (!has_header_) {
    has_header_ = true;
    if (first.code == "IN") header_["search_space"] = parse_json(first.payload).value_or(json());
    file_->append({RecordKind::header, dump_json(header_)});
  }
  file_->append({RecordKind::begin, encode_begin(begin)});
}

void Recorder::append(JournalRecord record) {
  if (file_) file_->append(std::move(record));
}

void Recorder::begin_snapshot() {
  mark_ = file_->position();
  file_->begin_snapshot();
}

bool Recorder::snapshot_due(double seconds, double saving) {
  if (!file_ || file_->writing_snapshot() || !file_->trouble().empty()) return false;
  const std::uint64_t since = file_->bytes_since_snapshot();
  // The bytes since the newest written snapshot begin at its mark. If they begin before mark_, the
  // snapshot that was begun there could not be written.
  if (std::exchange(writing_, false)) rule_.ended(file_->position() - since >= mark_);
  return rule_.due({since, file_->snapshot_bytes(), seconds, saving});
}

void Recorder::write_snapshot(json state, std::uint64_t answers, std::uint64_t acknowledged) {
  rule_.begun();
  writing_ = true;
  file_->write_snapshot(header_, std::move(state),
                        std::make_unique<KeptAnswers>(answers, acknowledged));
}

}  // namespace attune
