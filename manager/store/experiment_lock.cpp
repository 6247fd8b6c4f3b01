#include "manager/store/experiment_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>

#include <chrono>
#include <thread>

#include "os/file_system.h"
#include "os/private_file.h"
#include "os/trust.h"

namespace attune {
namespace {

constexpr int kTries = 30;

// For locks of the open file description (F_OFD_*). Locks of the process would be lost when any
// descriptor of the file is closed. flock() cannot ask who holds a lock without taking it for a
// moment, in which a manager could fail to take it.
struct flock whole_file() {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

Result<ExperimentLock> ExperimentLock::take(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "lock";
  TRY(open_trusted(directory, O_PATH | O_DIRECTORY));
  // Close-on-exec: trials outlive their manager and must not hold its lock.
  UniqueFd fd = TRY(open_private(file, O_RDWR | O_CREAT));
  // A manager that was killed while it started a child leaves a copy of this descriptor in the
  // child, until the child executes its program. So the lock may be held for a moment longer. The
  // loop waits for that: F_OFD_SETLKW would have no time limit.
  for (int tries = 0; tries < kTries; ++tries) {
    struct flock lock = whole_file();
    if (::fcntl(fd.get(), F_OFD_SETLK, &lock) == 0) return ExperimentLock(std::move(fd));
    if (errno != EAGAIN && errno != EACCES)
      return fail(fmt::format("cannot lock {}: {}", file.string(), strerror(errno)));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return fail(
      fmt::format("{}: a manager runs this experiment already; attune status shows it, "
                  "attune stop ends it",
                  directory.string()));
}

Result<void> ExperimentLock::renew(const std::filesystem::path& directory) {
  const std::string file = (directory / "lock").string();
  if (real_files().is_at(fd_.get(), file).value_or(false)) return {};
  *this = TRY(take(directory));
  return {};
}

bool ExperimentLock::is_held(const std::filesystem::path& directory) {
  const auto fd = open_private(directory / "lock", O_RDONLY);
  struct flock lock = whole_file();
  return fd && ::fcntl(fd->get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void ExperimentLock::await_free(const std::filesystem::path& directory) {
  const auto fd = open_private(directory / "lock", O_RDONLY);
  struct flock lock = whole_file();
  lock.l_type = F_RDLCK;  // released at once, when this function closes the descriptor
  if (fd) ::fcntl(fd->get(), F_OFD_SETLKW, &lock);
}

}  // namespace attune
