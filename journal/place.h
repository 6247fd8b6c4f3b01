#pragma once
// Who has a journal's path: the lock on the file, and the file that takes the place of another.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/file_system.h"

namespace attune {

// The file at `path`, open for reading and writing, and locked for as long as it is open. Errors:
// another process has it, a symbolic link, what the system says.
// Another one may end while it is waited for: this blocks for up to `patience`, and asks for the
// lock every 20 ms. There is no event to wait for: flock() either does not wait or waits without a
// limit, and nothing that poll() knows tells of its end.
Result<UniqueFd> open_locked(FileSystem& files, const std::string& path, bool create,
                             std::chrono::milliseconds patience = {});

// Bytes of a journal: a part of an open file, and what is known to follow it there. What is in
// memory is not read from the file: its pages may be gone after a flush that failed.
struct JournalBytes {
  std::shared_ptr<const UniqueFd> file;
  std::uint64_t from = 0, to = 0;
  std::string memory;
};

// A file `path`.new on its way to take the place of `path`. Any one thread at a time.
class Replacement {
 public:
  // Made anew, locked; the directory, too, when it is missing. Whatever goes on gives up with an
  // error when `abandoned` becomes true.
  static Result<std::unique_ptr<Replacement>> begin(FileSystem& files, const std::string& path,
                                                    const std::atomic<bool>& abandoned);
  ~Replacement();  // removes it, unless it has its place

  Result<void> append(std::string_view bytes);
  Result<void> append(const JournalBytes& bytes);
  Result<void> flush();
  std::uint64_t size() const { return size_; }

  // It goes to `path`, where `former` was. An error: it did not. What is there by now and locked
  // by another process stays.
  Result<void> take_place(int former);
  UniqueFd release() { return std::move(fd_); }  // after that

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
