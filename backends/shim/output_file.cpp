#include "backends/shim/output_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace attune::shim {

OutputFile::OutputFile(const std::string& folder, const char* name, std::uint64_t limit)
    : path_(folder + "/" + name), limit_(limit) {
  file_ =
      ::open(path_.c_str(),
             O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
  if (file_ < 0) {
    broken_ = true;
    problem_ = "cannot open " + path_ + ": " + strerror(errno);
  }
}

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
  if (pipe_ >= 0) ::close(pipe_);
}

int OutputFile::make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  if (pipe_ >= 0) ::close(pipe_);
  // Only the reading end: programs expect a writing end that blocks.
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  pipe_ = ends[0];
  return ends[1];
}

bool OutputFile::take() {
  if (pipe_ < 0) return false;
  char buffer[64 << 10];
  const ssize_t size = ::read(pipe_, buffer, sizeof buffer);
  if (size > 0) {
    const std::string_view bytes(buffer, static_cast<std::size_t>(size));
    keep(bytes);
    if (listener_) listener_(bytes);
    return true;
  }
  if (size == 0) {  // the trial, and all that it started, have closed it
    ::close(pipe_);
    pipe_ = -1;
  }
  return false;
}

void OutputFile::take_present() {
  int present = 0;
  if (pipe_ < 0 || ::ioctl(pipe_, FIONREAD, &present) != 0) return;
  for (; present > 0 && take(); present -= 64 << 10) {
  }
}

void OutputFile::keep(std::string_view bytes) {
  recent_.append(bytes.substr(bytes.size() - std::min<std::size_t>(bytes.size(), 500)));
  if (recent_.size() > 500) recent_.erase(0, recent_.size() - 500);
  const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), limit_ - kept_));
  write(bytes.substr(0, room));
  kept_ += room;
  bytes.remove_prefix(room);
  if (bytes.empty()) return;
  if (!std::exchange(cut_, true)) {
    problem_ = path_ + ": the trial writes more than " + std::to_string(limit_) +
               " bytes; of the rest only the end is kept";
  }
  tail_.append(bytes);
  if (tail_.size() > 2 * kTail) {
    dropped_ += tail_.size() - kTail;
    tail_.erase(0, tail_.size() - kTail);
  }
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty() && !broken_) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      // A full disk must not block the trial.
      broken_ = true;
      problem_ = "cannot write " + path_ + ": " + strerror(errno) + "; the rest is dropped";
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::finish() {
  if (!cut_) return;
  const std::size_t extra = tail_.size() - std::min(tail_.size(), kTail);
  dropped_ += extra;
  if (dropped_ > 0) write("\n[attune: " + std::to_string(dropped_) + " bytes are left out]\n");
  write(std::string_view(tail_).substr(extra));
}

std::string OutputFile::problem() { return std::exchange(problem_, {}); }

}  // namespace attune::shim
