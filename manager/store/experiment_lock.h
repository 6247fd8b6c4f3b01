#pragma once
// Which experiments have a manager: it holds a lock on a file in the experiment's folder. The
// kernel frees the lock when the manager ends in whatever way, so that it cannot go stale as a
// process id can.
#include <filesystem>

#include "base/result.h"
#include "os/unique_fd.h"

namespace attune {

class ExperimentLock {
 public:
  // Takes <directory>/lock; the folder exists. An error when another manager holds it.
  static Result<ExperimentLock> take(const std::filesystem::path& directory);

  // Takes it anew where somebody has removed the file or the folder: nobody would see it there.
  Result<void> renew(const std::filesystem::path& directory);

  // Does a manager, of this process or another, hold it? A folder that is gone has none.
  static bool is_held(const std::filesystem::path& directory);

  // Waits until none does; a signal that is handled ends the waiting too.
  static void await_free(const std::filesystem::path& directory);

 private:
  explicit ExperimentLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace attune
