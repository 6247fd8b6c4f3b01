#pragma once
// The lock that a manager holds on its experiment, so that no second manager runs it. It is a lock
// on the file `lock` in the experiment's folder. The kernel releases it when the manager ends in
// any way, so that it cannot become stale as a stored process id can.
#include <filesystem>

#include "base/result.h"
#include "os/unique_fd.h"

namespace attune {

class ExperimentLock {
 public:
  // Locks <directory>/lock. The folder must exist. Error: another manager still holds the lock
  // after tries for 0.3 seconds.
  static Result<ExperimentLock> take(const std::filesystem::path& directory);

  // If somebody has removed or replaced the file or its folder, locks the file that is there now:
  // other processes cannot see a lock on a deleted file.
  Result<void> renew(const std::filesystem::path& directory);

  // Whether a manager, of this process or another, holds the lock. false if the folder is gone.
  static bool is_held(const std::filesystem::path& directory);

  // Blocks until no manager holds the lock. A signal with a handler ends the waiting, too.
  static void await_free(const std::filesystem::path& directory);

 private:
  explicit ExperimentLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace attune
