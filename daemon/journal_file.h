#pragma once
// The journal as a file: appends, makes durable, replaces it by a shorter one that begins with a
// snapshot. docs/journal.md.
//
// The io thread makes all calls and writes what is appended; a helper thread does what may take
// long: flushing to the disk, and writing a new file.
//
// A failure (disk full, read-only, a failed flush, a deleted directory) loses nothing while the
// process lives: what was appended stays in memory, trouble() says why, and every tick() tries to
// put it right. A deleted file or one whose flush failed is written anew as a whole.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/file_system.h"
#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "dispatcher/journal.h"

namespace attune {

enum class Durability {
  write,   // in the operating system's hands before an answer leaves; on the disk within a second
  always,  // on the disk before an answer leaves
  never,   // as write, but it is left to the operating system when it gets to the disk
};

class JournalFile final : public Journal {
 public:
  // `ready`, called on the helper thread, must only wake the io thread, which calls poll() then.
  struct Options {
    std::string path;
    Durability durability = Durability::write;
  };
  // A new file, in place of any other. The directory is made when missing. Nothing is written
  // before the first flush().
  static Result<std::unique_ptr<JournalFile>> create(FileSystem& files, Options options,
                                                     std::function<void()> ready, Log log);
  // To go on with one, open for writing and locked: `size` bytes of it are good, what follows is
  // cut off. `after_snapshot`: bytes of them that follow the snapshot.
  static Result<std::unique_ptr<JournalFile>> open(FileSystem& files, Options options,
                                                   UniqueFd locked, std::uint64_t size,
                                                   std::uint64_t after_snapshot,
                                                   std::function<void()> ready, Log log);
  ~JournalFile() override;  // after what the helper has in hand; what was not flushed is lost

  void append(JournalRecord record) override;  // into memory
  std::uint64_t position() const;              // counts appended bytes; of the next record
  void flush();                                // hands what was appended to the operating system
  // Records before this position are as durable as the options ask for.
  std::uint64_t durable() const;
  std::size_t backlog() const;  // bytes appended and not written

  // Why nothing can be remembered at the moment; empty: all is well.
  const std::string& trouble() const;
  // Once a second while needs_tick(): flushes to the disk, or tries to mend what is broken.
  void tick();
  bool needs_tick() const;
  void poll();  // takes what the helper has done

  // A snapshot of the state at this point is on its way; records go on being appended.
  void begin_snapshot() override;
  // It has come: the file becomes `header`, `snapshot`, the answers of the former file before that
  // point numbered above `acknowledged` (as `kept`; `answers`: how many there were up to that
  // point) and the records since. Nothing is durable while the files change places.
  void write_snapshot(const json& header, const json& snapshot, std::uint64_t answers,
                      std::uint64_t acknowledged);
  bool writing_snapshot() const;  // between the two, or the helper is at it
  std::uint64_t bytes_since_snapshot() const;
  std::uint64_t snapshot_bytes() const;

  // Waits until all that was appended is written and, unless `never`, on the disk. For the end.
  Result<void> close();

 private:
  struct State;
  explicit JournalFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace attune
