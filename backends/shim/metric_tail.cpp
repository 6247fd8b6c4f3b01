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
  // dnotify, not inotify: a user has 128 instances of that by default, fewer than there may be
  // trials, and closing one costs about ten milliseconds (it waits for other processors). The
  // folder is watched, so that a replaced file is seen too.
  watch_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  watched_ = watch_ >= 0 &&
             ::fcntl(watch_, F_NOTIFY, DN_MODIFY | DN_CREATE | DN_RENAME | DN_MULTISHOT) == 0;
  file_ = open_file();
}

MetricTail::~MetricTail() {
  if (watch_ >= 0) ::close(watch_);
  if (file_ >= 0) ::close(file_);
}

int MetricTail::open_file() const {
  // A FIFO in its place must not hang us, a link must not lead us elsewhere.
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
  // The number of the inode is not given to another file as long as we have this one open.
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

// The length may be the same, or more: then the bytes before offset_ show it, or a record that ends
// there is the same in both.
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
    // Where the disk is full it stays unread, and comes when there is room.
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
  // Up to where it ends now: someone else may go on writing for ever.
  while (read() && offset_ < status.st_size) {
  }
}

}  // namespace attune::shim
