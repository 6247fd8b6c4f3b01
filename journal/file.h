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
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "journal/journal.h"
#include "journal/kept_records.h"
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

  void append(JournalRecord record) override;  // into memory
  std::uint64_t position() const;              // counts appended bytes; of the next record
  void flush();                                // hands what was appended to the operating system
  // Records before this position are as durable as the options ask for. Never goes back.
  std::uint64_t durable() const;
  std::size_t backlog() const;  // bytes appended and not written
  // More than `most` bytes of them; or the disk lags behind by as much beyond what it always may.
  bool full(std::size_t most) const;

  // Why nothing can be remembered at the moment; empty: all is well.
  const std::string& trouble() const;
  // Once a second while needs_tick(): flushes to the disk, or tries to mend what is broken.
  void tick();
  bool needs_tick() const;
  void poll();        // takes what the helpers have done
  bool busy() const;  // they have something in hand, or poll() has not taken it

  // A snapshot of the state at this point is on its way; records go on being appended. Without
  // effect while one is being written.
  void begin_snapshot() override;
  // It has come: the file becomes `header`, `snapshot`, what `kept` takes of the former file before
  // that point (null: nothing) and the records since. Nothing is durable while the files change
  // places. When it cannot be written, or there is trouble() already, the former file stays in use,
  // and a later snapshot may do better.
  void write_snapshot(json header, json snapshot, std::unique_ptr<KeptRecords> kept);
  bool writing_snapshot() const;  // between the two, or the helper is at it
  std::uint64_t bytes_since_snapshot() const;
  std::uint64_t snapshot_bytes() const;  // before them, in the file; 0: there is none

  // Waits until all that was appended is written and, unless `never`, on the disk. For the end. A
  // snapshot that is being written is given up. An error: not all is; it may be tried again.
  Result<void> close();

 private:
  class Impl;
  explicit JournalFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune
