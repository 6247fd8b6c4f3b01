#pragma once
// The journal as the server sees it: a file, or, without a directory, nothing at all. Writes the
// header when the experiment begins, and decides when a snapshot is due. Io thread only.
#include <chrono>
#include <memory>

#include "daemon/resume.h"
#include "journal/file.h"

namespace attune {

class Recorder final : public Journal {
 public:
  // Without a file everything counts as durable at once.
  Recorder(std::unique_ptr<JournalFile> file, json header, bool has_header,
           std::size_t snapshot_bytes)
      : file_(std::move(file)),
        header_(std::move(header)),
        has_header_(has_header),
        snapshot_bytes_(snapshot_bytes) {}

  // Before the first command is passed on: the header holds its search space.
  void begin(BeginHow how, const Frame& first);
  void append(JournalRecord record) override;
  void begin_snapshot() override { file_->begin_snapshot(); }

  JournalFile* file() { return file_.get(); }
  void release() { file_.reset(); }  // nothing is written any more, and another process may have it
  std::uint64_t position() const { return file_ ? file_->position() : 0; }
  bool has(std::uint64_t position) const { return !file_ || file_->durable() >= position; }
  std::string trouble() const { return file_ ? file_->trouble() : std::string(); }
  bool full(std::size_t most) const { return file_ && file_->full(most); }

  // Often enough that a replay is short, seldom enough that writing them costs little.
  bool snapshot_due() const;
  void write_snapshot(json state, std::uint64_t answers, std::uint64_t acknowledged);

 private:
  using SteadyClock = std::chrono::steady_clock;

  std::unique_ptr<JournalFile> file_;
  json header_;
  bool has_header_ = false;
  const std::size_t snapshot_bytes_;
  SteadyClock::time_point tried_at_ = SteadyClock::now();  // a snapshot, the last time
  std::uint64_t tried_bytes_ = 0;                          // as many had come since the former one
};

}  // namespace attune
