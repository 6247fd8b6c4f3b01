#pragma once
// Waits until a file is renamed into its place, as atomic writers do, or written to.
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace attune {

class FileEvent {
 public:
  enum class Kind : std::uint32_t { renamed = IN_MOVED_TO, written = IN_MODIFY };

  // What happens from now on counts.
  FileEvent(const std::string& directory, std::string name, Kind kind = Kind::renamed)
      : name_(std::move(name)), fd_(::inotify_init1(IN_CLOEXEC)) {
    if (fd_ < 0 || ::inotify_add_watch(fd_, directory.c_str(), std::uint32_t(kind)) < 0) {
      throw std::runtime_error("inotify: " + std::string(std::strerror(errno)));
    }
  }
  ~FileEvent() { ::close(fd_); }
  FileEvent(const FileEvent&) = delete;
  FileEvent& operator=(const FileEvent&) = delete;

  // Until the next event that no wait has seen yet; throws after 200 seconds without any.
  void wait() {
    while (unseen_ == 0) read_events();
    --unseen_;
  }

 private:
  void read_events() {
    pollfd waiting{fd_, POLLIN, 0};
    if (::poll(&waiting, 1, 200'000) <= 0) throw std::runtime_error(name_ + " is not written");
    alignas(inotify_event) std::array<char, 4096> buffer{};
    const ssize_t size = ::read(fd_, buffer.data(), buffer.size());
    for (ssize_t at = 0; at < size;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      if (event.len > 0 && name_ == buffer.data() + at + sizeof event) ++unseen_;
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }

  std::string name_;
  int fd_;
  int unseen_ = 0;
};

}  // namespace attune
