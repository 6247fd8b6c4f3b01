#include "backends/shim/metric_tail.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/report/spool.h"

namespace attune::shim {
namespace {

constexpr int kPiecesPerRead = 16;  // so that a flood of metrics does not starve the pipes
constexpr std::size_t kLast = 256;  // about a record

}  // namespace

MetricTail::MetricTail(const std::string& folder, SpoolWriter& spool)
    : folder_(folder + "/.nni"), path_(folder_ + "/metrics"), spool_(spool) {
  // dnotify, not inotify: by default a user may have 128 inotify instances, which is fewer than
  // there may be trials, and closing one takes about ten milliseconds (it waits for other
  // processors). It watches the directory, so that a replaced file is noticed too.
  watch_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  watched_ = watch_ >= 0 &&
             ::fcntl(watch_, F_NOTIFY, DN_MODIFY | DN_CREATE | DN_RENAME | DN_MULTISHOT) == 0;
  file_ = open_file();
}

MetricTail::~MetricTail() {
  if (watch_ >= 0) ::close(watch_);
  if (file_ >= 0) ::close(file_);
}

void MetricTail::end_waits() const {
  if (watch_ >= 0) ::unlinkat(watch_, "answered", 0);
}

int MetricTail::open_file() const {
  // A FIFO in its place must not block the shim, and a link must not lead elsewhere.
  const int fd = ::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat status{};
  if (fd >= 0 && (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
    ::close(fd);
    return -1;
  }
  return fd;
}

bool MetricTail::look() {
  reopen();
  return read();
}

void MetricTail::reopen() {
  struct stat before{};
  struct stat now{};
  const bool there = ::lstat(path_.c_str(), &now) == 0;
  // The kernel does not give the inode's number to another file while this one is open.
  if (file_ >= 0 && ::fstat(file_, &before) == 0 && there && before.st_ino == now.st_ino &&
      before.st_dev == now.st_dev) {
    return;
  }
  if (there && !S_ISREG(now.st_mode)) {
    complain(told_no_file_,
             "the trial made .nni/metrics no regular file; what comes there is lost");
    return;
  }
  const int fd = open_file();
  if (fd < 0) return;
  if (file_ >= 0) {
    drain();
    ::close(file_);
  }
  complain(told_changed_,
           "the trial replaced .nni/metrics; the new file is read from its beginning");
  file_ = fd;
  offset_ = 0;
  last_.clear();
}

void MetricTail::complain(bool& told, const std::string& text) {
  if (!std::exchange(told, true)) spool_.append(spool::kProblem, text);
}

// Compares the bytes before offset_ with those that were read: the file may have been rewritten to
// the same or a larger length. If they are equal, the last record before offset_ is the same in
// both, too.
bool MetricTail::was_rewritten() const {
  char now[kLast];
  const ssize_t size =
      ::pread(file_, now, last_.size(), offset_ - static_cast<off_t>(last_.size()));
  return size >= 0 && std::string_view(now, static_cast<std::size_t>(size)) != last_;
}

bool MetricTail::read() {
  if (file_ < 0) return false;
  if (was_rewritten()) {
    complain(told_changed_,
             "the trial rewrote .nni/metrics, or made it shorter; it is read again from its "
             "beginning");
    offset_ = 0;
    last_.clear();
  }
  char buffer[64 << 10];
  for (int piece = 0; piece < kPiecesPerRead; ++piece) {
    const ssize_t size = ::pread(file_, buffer, sizeof buffer, offset_);
    if (size <= 0) return false;
    if (copied_ + size > kMaxBytes) {
      complain(told_too_much_, "the trial wrote more than " + std::to_string(kMaxBytes) +
                                   " bytes into .nni/metrics; the rest is ignored");
      return false;
    }
    // On a full disk the bytes stay unread, and are copied when there is room.
    const std::string_view bytes(buffer, static_cast<std::size_t>(size));
    behind_ = !spool_.append(spool::kMetric, bytes);
    if (behind_) return false;
    offset_ += size;
    copied_ += size;
    last_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kLast)));
    last_.erase(0, last_.size() - std::min(last_.size(), kLast));
  }
  return true;
}

bool MetricTail::finish() {
  reopen();
  drain();
  return !behind_;
}

void MetricTail::drain() {
  struct stat status{};
  if (file_ < 0 || ::fstat(file_, &status) != 0) return;
  // Up to its present end: someone else may write for ever.
  while (read() && offset_ < status.st_size) {
  }
}

}  // namespace attune::shim
