#pragma once
// The journal as a file: appends, makes durable, replaces it by a shorter one that begins with a
// snapshot. docs/journal.md.
//
// The io thread makes all calls and writes what is appended; helper threads do what may take long:
// one flushes to the disk, one writes a new file.
//
// A failure (disk full, read-only, a failed flush, a deleted directory) loses nothing while the
// process lives: what was appended stays in memory, trouble() says why, and every tick() tries to
// put it right, less often when that takes long. A file that is deleted or replaced is noticed when
// something is written: that does not count as durable then. Such a file, and one whose flush
// failed, is written anew as a whole.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "journal/helper_thread.h"
#include "journal/journal.h"
#include "journal/kept_records.h"
#include "journal/snapshot.h"
#include "journal/tail.h"
#include "os/clock.h"
#include "os/durability.h"
#include "os/file_system.h"
#include "os/log.h"

namespace attune {

class JournalFile final : public Journal {
 public:
  struct Options {
    std::string path;
    Durability durability = Durability::each_second;
  };
  // A journal that somebody may go on with: nobody else can, from before it is read.
  struct Existing {
    UniqueFd file;
    std::string bytes;
  };
  // Nothing: there is none. Errors: it is in use (`patience` is waited for), a symbolic link,
  // cannot be read.
  static Result<std::optional<Existing>> lock_and_read(FileSystem& files, const std::string& path,
                                                       std::chrono::milliseconds patience = {});

  // `ready`, called on the helper threads, must only wake the io thread, which calls poll() then;
  // it may be called until the destructor is through. `files` lives longer.
  //
  // A new file, in place of any other. The directory is made when missing. Nothing is written, and
  // what was there stays, until the first flush().
  static Result<std::unique_ptr<JournalFile>> create(FileSystem& files, Options options,
                                                     std::function<void()> ready, Log log);
  // To go on with one: `size` bytes of it are good, what follows is cut off by the first flush().
  // `after_snapshot`: bytes of them that follow the snapshot and the kept records; without a
  // snapshot all of them. position() begins with `size`.
  static Result<std::unique_ptr<JournalFile>> open(FileSystem& files, Options options,
                                                   Existing existing, std::uint64_t size,
                                                   std::uint64_t after_snapshot,
                                                   std::function<void()> ready, Log log);
  ~JournalFile() override;  // after what the helpers have in hand; what was not flushed is lost

  void append(JournalRecord record) override { tail_.append(record); }  // into memory
  // Counts appended bytes; of the next record.
  std::uint64_t position() const { return tail_.appended(); }
  void flush();  // hands what was appended to the operating system
  // Records before this position are as durable as the options ask for. Never goes back.
  std::uint64_t durable() const {
    return options_.durability == Durability::always ? synced_ : placed_;
  }
  // Bytes appended and not written.
  std::size_t backlog() const { return tail_.appended() - tail_.written(); }
  // More than `most` bytes of them; or the disk lags behind by as much beyond what it always may.
  bool full(std::size_t most) const {
    return backlog() > most || unsynced() > kMostUnsynced + most;
  }

  // Why nothing can be remembered at the moment; empty: all is well.
  const std::string& trouble() const { return trouble_; }
  // Once a second while needs_tick(): flushes to the disk, or tries to mend what is broken.
  void tick();
  bool needs_tick() const {
    return !trouble_.empty() || backlog() > 0 || synced_ < tail_.written();
  }
  void poll();  // takes what the helpers have done
  // They have something in hand, or poll() has not taken it.
  bool busy() const { return flusher_.busy() || writer_.busy(); }

  // A snapshot of the state at this point is on its way; records go on being appended. Without
  // effect while one is being written.
  void begin_snapshot() override;
  // It has come: the file becomes `header`, `snapshot`, what `kept` takes of the former file before
  // that point (null: nothing) and the records since. Nothing is durable while the files change
  // places. When it cannot be written, or there is trouble() already, the former file stays in use,
  // and a later snapshot may do better.
  void write_snapshot(json header, json snapshot, std::unique_ptr<KeptRecords> kept);
  // Between the two, or the helper is at it.
  bool writing_snapshot() const { return marked_ || (new_file_ && new_file_->is_snapshot); }
  std::uint64_t bytes_since_snapshot() const { return tail_.appended() - since_; }
  // Before them, in the file; 0: there is none.
  std::uint64_t snapshot_bytes() const { return snapshot_bytes_; }

  // Waits until all that was appended is written and, unless `never`, on the disk. For the end. A
  // snapshot that is being written is given up. An error: not all is; it may be tried again.
  Result<void> close();

 private:
  // The io thread writes. Two jobs run beside it: the flusher makes durable what is written, the
  // writer makes a new file in three steps. It prepares one (snapshot and kept records), catches up
  // with what was written meanwhile, and at last changes the places; only in that last step io must
  // not write. A file that cannot be trusted any more is replaced by the last step alone.

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
  using Step = NewJournal::Step;

  // More than this is not left to the next tick: it stays in memory until it is on the disk.
  static constexpr std::uint64_t kMostUnsynced = 8 << 20;

  JournalFile(FileSystem& files, Options options, UniqueFd file, std::uint64_t size, bool longer,
              std::function<void()> ready, Log log);

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
