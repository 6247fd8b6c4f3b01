#pragma once
// The inside of JournalFile: what its functions do, and its state. Not for others.
//
// The io thread writes. Two jobs run beside it: the flusher makes durable what is written, the
// writer makes a new file in three steps. It prepares one (snapshot and kept records), catches up
// with what was written meanwhile, and at last changes the places; only in that last step io must
// not write. A file that cannot be trusted any more is replaced by the last step alone.
#include <atomic>

#include "journal/file.h"
#include "journal/helper_thread.h"
#include "journal/snapshot.h"
#include "journal/tail.h"
#include "os/clock.h"

namespace attune {

// A file on its way. The writer has what is in the second half while it is busy.
struct NewJournal {
  enum class Step { prepare, catch_up, change };

  bool is_snapshot = false;  // else it is the present file anew
  std::uint64_t mark = 0;    // position of what follows the snapshot
  Step step = Step::prepare;
  int rounds = 0;           // of catching up
  std::uint64_t reach = 0;  // the position to which the step copies

  std::optional<SnapshotContent> content;  // until it is written
  std::unique_ptr<Replacement> file;
  std::uint64_t begins = 0;        // bytes of it before `mark`
  std::optional<Error> unflushed;  // it has its place, but perhaps not on the disk
};

class JournalFile::Impl {
 public:
  Impl(FileSystem& files, Options options, UniqueFd file, std::uint64_t size, bool longer,
       std::function<void()> ready, Log log);
  ~Impl();

  void append(const JournalRecord& record) { tail_.append(record); }
  void flush();
  void tick();
  void poll();
  Result<void> close();
  void begin_snapshot();
  void write_snapshot(SnapshotContent content);

  std::uint64_t position() const { return tail_.appended(); }
  std::uint64_t durable() const {
    return options_.durability == Durability::always ? synced_ : placed_;
  }
  std::size_t backlog() const { return tail_.appended() - tail_.written(); }
  bool full(std::size_t most) const {
    return backlog() > most || unsynced() > kMostUnsynced + most;
  }
  const std::string& trouble() const { return trouble_; }
  bool needs_tick() const {
    return !trouble_.empty() || backlog() > 0 || synced_ < tail_.written();
  }
  bool busy() const { return flusher_.busy() || writer_.busy(); }
  bool writing_snapshot() const { return marked_ || (new_file_ && new_file_->is_snapshot); }
  std::uint64_t bytes_since_snapshot() const { return tail_.appended() - since_; }
  std::uint64_t snapshot_bytes() const { return snapshot_bytes_; }
  void set_snapshot(std::uint64_t since, std::uint64_t bytes) {
    since_ = since;
    snapshot_bytes_ = bytes;
  }

 private:
  using Step = NewJournal::Step;

  // More than this is not left to the next tick: it stays in memory until it is on the disk.
  static constexpr std::uint64_t kMostUnsynced = 8 << 20;

  std::uint64_t unsynced() const { return flushes() ? tail_.written() - synced_ : 0; }
  bool flushes() const { return options_.durability != Durability::never; }
  bool changing() const { return new_file_ && new_file_->step == Step::change; }
  bool waits_to_change() const { return new_file_ && !writer_.busy(); }

  void write_out();
  Result<void> write_pending();
  void look();
  void sync();
  Result<void> bring_to_disk(int fd, bool named) const;  // on the flusher
  void synced(const Result<void>& flushed);
  void broke(const std::string& reason);
  void settle();
  void wait();

  // file_change.cpp
  void rewrite();
  void start(Step step);
  Result<void> run(NewJournal& made, const JournalBytes& bytes, int former);  // on the writer
  void stepped(const Result<void>& done);
  void next_step();
  void changed();
  void gave_up(const std::string& reason);

  FileSystem& files_;
  const Options options_;
  const Log log_;

  JournalTail tail_;
  bool longer_;               // the file has bytes behind what is written: to be cut off
  bool named_ = false;        // its name is on the disk
  std::uint64_t placed_;      // written to a file that had its place after that
  std::uint64_t synced_ = 0;  // on the disk; `never`: looked whether the file is still there
  std::uint64_t since_ = 0, snapshot_bytes_ = 0;

  std::string write_error_;             // of the last write
  std::string broken_;                  // why the file is to be written anew
  std::string trouble_;                 // of the two
  double tried_at_ = 0, retry_at_ = 0;  // to write it anew; of the clock's now()
  const SystemClock clock_;

  bool marked_ = false;  // a snapshot has begun, at mark_
  std::uint64_t mark_ = 0;
  bool snapshot_failing_ = false;
  std::optional<NewJournal> new_file_;
  std::atomic<bool> abandoned_ = false;

  std::uint64_t sync_to_ = 0;  // position up to which the flusher's job flushes

  HelperThread flusher_, writer_;  // last: their jobs use the above
};

}  // namespace attune
