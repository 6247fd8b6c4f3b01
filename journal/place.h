#pragma once
// Ownership of a journal's path: the lock on the file, and the replacement of the file by another.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/file_system.h"

namespace attune {

// Opens the file at `path` for reading and writing, and locks it. Closing the descriptor releases
// the lock. Errors: another process holds the lock, `path` is a symbolic link or not trusted
// (os/trust.h), or the system's reason.
//
// Blocks for up to `patience` while another process holds the lock, and asks again every 20 ms.
// Polling is needed: flock() either does not wait or waits without a limit, and poll() cannot
// report that a lock was released.
Result<UniqueFd> open_locked(FileSystem& files, const std::string& path, bool create,
                             std::chrono::milliseconds patience = {});

// A range of journal bytes: [from, to) of an open file, followed by `memory`. Bytes that are still
// in memory are never read back from the file: after a failed flush Linux may have dropped their
// pages.
struct JournalBytes {
  std::shared_ptr<const UniqueFd> file;
  std::uint64_t from = 0, to = 0;
  std::string memory;
};

// Writes `path`.new, which then replaces `path`. One thread at a time.
class Replacement {
 public:
  // Creates `path`.new and locks it. Removes a leftover of that name; creates missing directories.
  // As soon as `abandoned` is true, append() returns an error.
  static Result<std::unique_ptr<Replacement>> begin(FileSystem& files, const std::string& path,
                                                    const std::atomic<bool>& abandoned);
  ~Replacement();  // removes `path`.new, unless take_place() succeeded

  Result<void> append(std::string_view bytes);
  Result<void> append(const JournalBytes& bytes);
  Result<void> flush();
  std::uint64_t size() const { return size_; }

  // Renames `path`.new to `path`. `former` is the descriptor of the journal that it replaces. If
  // `path` names another file by now and another process holds its lock, that file stays and this
  // is an error. After an error nothing has been renamed.
  Result<void> take_place(int former);
  UniqueFd release() { return std::move(fd_); }  // only after take_place()

 private:
  Replacement(FileSystem& files, std::string path, const std::atomic<bool>& abandoned)
      : files_(files), path_(std::move(path)), temporary_(path_ + ".new"), abandoned_(abandoned) {}

  FileSystem& files_;
  const std::string path_, temporary_;
  const std::atomic<bool>& abandoned_;
  UniqueFd fd_;
  std::uint64_t size_ = 0;
  bool placed_ = false;
};

}  // namespace attune
