#pragma once
// The journal as a file: appends records, flushes them to the disk, and replaces the file by a
// shorter one that begins with a snapshot. docs/journal.md.
//
// Threads: the io thread makes all calls, and writes the appended records. Two helper threads do
// what may take long: one flushes to the disk, the other writes a new file.
//
// Failures (disk full, read-only file system, failed flush, deleted directory) lose nothing while
// the process lives. Appended records stay in memory, trouble() has the reason, and each tick()
// tries again, less often if an attempt takes long. The next write notices that the file was
// deleted or replaced; such a write does not count as durable. A file that was deleted or replaced,
// or whose flush failed, is written anew as a whole: Linux may drop pages whose flush failed, and
// report success the next time.
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
  // A journal that exists, for open(). The lock is taken before the bytes are read, so that no
  // other process can append to it meanwhile.
  struct Existing {
    UniqueFd file;
    std::string bytes;
  };
  // Nothing: there is no file at `path`. Errors: another process still uses it after `patience`, it
  // is a symbolic link, or it cannot be read. Blocks for up to `patience`.
  static Result<std::optional<Existing>> lock_and_read(FileSystem& files, const std::string& path,
                                                       std::chrono::milliseconds patience = {});

  // Starts a new journal at `options.path`; a missing directory is made. A file that is there is
  // overwritten by the first flush(), not before.
  //
  // Helper threads call `ready` when they have done a job, until the destructor returns. `ready`
  // must only wake the io thread, which then calls poll(). `files` must outlive the journal.
  static Result<std::unique_ptr<JournalFile>> create(FileSystem& files, Options options,
                                                     std::function<void()> ready, Log log);
  // Continues an existing journal. The first `size` bytes of it are valid; the first flush() cuts
  // off the rest. `after_snapshot` is how many of these bytes follow the snapshot and its kept
  // records (without a snapshot: all). position() begins with `size`.
  static Result<std::unique_ptr<JournalFile>> open(FileSystem& files, Options options,
                                                   Existing existing, std::uint64_t size,
                                                   std::uint64_t after_snapshot,
                                                   std::function<void()> ready, Log log);
  ~JournalFile() override;  // waits for the helpers' jobs; loses what was not flushed: see close()

  void append(JournalRecord record) override { tail_.append(record); }  // into memory only
  std::uint64_t position() const { return tail_.appended(); }  // of the next record, in bytes
  void flush();  // writes appended records into the file
  // Records before this position are as durable as options.durability asks. Never decreases.
  std::uint64_t durable() const {
    return options_.durability == Durability::always ? synced_ : placed_;
  }
  // Bytes that were appended and are not in the file yet.
  std::size_t backlog() const { return tail_.appended() - tail_.written(); }
  // The caller should stop appending: backlog() is over `most`, or the bytes that wait for the disk
  // are over `most` plus the 8 MiB that may always wait.
  bool full(std::size_t most) const {
    return backlog() > most || unsynced() > kMostUnsynced + most;
  }

  // Why records cannot be stored at the moment; empty: they can.
  const std::string& trouble() const { return trouble_; }
  // Call it once a second while needs_tick(): flushes to the disk, or tries to repair the file.
  void tick();
  bool needs_tick() const {
    return !trouble_.empty() || backlog() > 0 || synced_ < tail_.written();
  }
  void poll();  // takes the results of the helper threads
  // A helper has a job, or poll() has not taken its result yet.
  bool busy() const { return flusher_.busy() || writer_.busy(); }

  // Marks the position whose state the coming write_snapshot() brings. Records may be appended
  // between the two calls. Without effect while a snapshot is being written.
  void begin_snapshot() override;
  // Replaces the file by `header`, `snapshot`, the records that `kept` chooses from those before
  // the mark (null: none), and the records since the mark. durable() does not grow while the files
  // change places. If there is trouble(), or the new file cannot be written, the old file stays in
  // use, and a later snapshot may succeed.
  void write_snapshot(json header, json snapshot, std::unique_ptr<KeptRecords> kept);
  // From begin_snapshot() until the new file is in place.
  bool writing_snapshot() const { return marked_ || (new_file_ && new_file_->is_snapshot); }
  std::uint64_t bytes_since_snapshot() const { return tail_.appended() - since_; }
  // Size of header, snapshot and kept records; 0: there is none.
  std::uint64_t snapshot_bytes() const { return snapshot_bytes_; }

  // Blocks until all appended records are written and, unless `never`, on the disk. For the end of
  // the process. Abandons a snapshot that is being written. An error: some records are not stored;
  // the call may be repeated.
  Result<void> close();

 private:
  // The io thread writes. Two jobs run beside it: the flusher makes durable what is written, the
  // writer makes a new file in three steps. It prepares one (snapshot and kept records), catches up
  // with what was written meanwhile, and at last changes the places; only in that last step io must
  // not write. A file that cannot be trusted any more is replaced by the last step alone.

  // A file on its way. The writer has what is in the second half while it is busy.
  struct NewJournal {
    enum class Step { prepare, catch_up, change };
    explicit NewJournal(bool snapshot) : is_snapshot(snapshot) {}

    const bool is_snapshot;  // else it is the present file anew
    std::uint64_t mark = 0;  // position of what follows the snapshot
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
