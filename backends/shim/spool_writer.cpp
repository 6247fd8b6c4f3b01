#include "backends/shim/spool_writer.h"

#include <stdio.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace attune::shim {

namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

double unix_time() { return seconds_of(CLOCK_REALTIME); }
double boot_seconds() { return seconds_of(CLOCK_BOOTTIME); }

bool SpoolWriter::append(const char* type, std::string_view body) {
  char header[80];
  const int length =
      ::snprintf(header, sizeof header, "%s %.6f %zu\n", type, offset_ + steady_(), body.size());
  char end = '\n';
  // One system call, so that a shim that is killed between records leaves no torn one.
  const iovec parts[] = {{header, static_cast<std::size_t>(length)},
                         {const_cast<char*>(body.data()), body.size()},
                         {&end, 1}};
  const auto wanted = static_cast<ssize_t>(body.size() + 1) + length;
  ssize_t written = -1;
  do {
    written = ::writev(fd_, parts, 3);
  } while (written < 0 && errno == EINTR);
  if (written == wanted) {
    size_ += wanted;
    return true;
  }
  error_ = written < 0 ? errno : ENOSPC;
  // Removes the part that was written: it would make all following records unreadable.
  (void)!::ftruncate(fd_, size_);
  return false;
}

bool SpoolWriter::may_pass() const {
  return error_ == ENOSPC || error_ == EDQUOT || error_ == EFBIG || error_ == EIO;
}

}  // namespace attune::shim
