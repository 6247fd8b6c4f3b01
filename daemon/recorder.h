#pragma once
// The server's journal: a file, or nothing at all if there is no checkpoint directory. Writes the
// header when the experiment begins, and knows when a snapshot is due. Io thread only.
#include <memory>

#include "daemon/resume.h"
#include "daemon/snapshot_rule.h"
#include "journal/file.h"

namespace attune {

class Recorder final : public Journal {
 public:
  // Without a file everything counts as durable at once.
  Recorder(std::unique_ptr<JournalFile> file, json header, bool has_header, SnapshotRule rule)
      : file_(std::move(file)), header_(std::move(header)), has_header_(has_header), rule_(rule) {}

  // Must be called before the first command is passed on: if `first` is IN, a new header gets its
  // search space.
  void begin(const Begin& begin, const Frame& first);
  void append(JournalRecord record) override;
  void begin_snapshot() override;

  JournalFile* file() { return file_.get(); }
  void release() { file_.reset(); }  // gives up the file and its lock
  std::uint64_t position() const { return file_ ? file_->position() : 0; }
  bool has(std::uint64_t position) const { return !file_ || file_->durable() >= position; }
  std::string trouble() const { return file_ ? file_->trouble() : std::string(); }
  bool full(std::size_t most) const { return file_ && file_->full(most); }

  // `seconds` and `saving` as SnapshotRule::Since.
  bool snapshot_due(double seconds, double saving);
  void write_snapshot(json state, std::uint64_t answers, std::uint64_t acknowledged);

 private:
  std::unique_ptr<JournalFile> file_;
  json header_;
  bool has_header_ = false;
  SnapshotRule rule_;
  std::uint64_t mark_ = 0;  // position of the newest snapshot that was begun
  bool writing_ = false;    // the rule has not been told yet that it ended
};

}  // namespace attune
