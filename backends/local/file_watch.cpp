#include "backends/local/file_watch.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace attune {
namespace {

constexpr std::uint32_t kEvents = IN_MODIFY | IN_ATTRIB;  // written, touched

}  // namespace

Result<std::unique_ptr<FileWatch>> FileWatch::create(boost::asio::io_context& io,
                                                     OnChange on_change) {
  const int fd = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (fd < 0) {
    return fail(
        fmt::format("cannot watch files: inotify_init1: {} (see fs.inotify.max_user_instances)",
                    strerror(errno)));
  }
  return std::unique_ptr<FileWatch>(new FileWatch(io, fd, std::move(on_change)));
}

FileWatch::FileWatch(boost::asio::io_context& io, int fd, OnChange on_change)
    : inotify_(io, fd), on_change_(std::move(on_change)) {
  wait();
}

Result<int> FileWatch::add(const std::filesystem::path& file) {
  const int key = ::inotify_add_watch(inotify_.native_handle(), file.c_str(), kEvents);
  if (key < 0) {
    return fail(fmt::format("cannot watch {}: {} (see fs.inotify.max_user_watches)", file.string(),
                            strerror(errno)));
  }
  return key;
}

void FileWatch::remove(int key) { ::inotify_rm_watch(inotify_.native_handle(), key); }

void FileWatch::wait() {
  inotify_.async_wait(
      boost::asio::posix::stream_descriptor::wait_read,
      [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
        if (error || alive.expired()) return;
        read();
        wait();
      });
}

void FileWatch::read() {
  alignas(inotify_event) char buffer[16 << 10];
  const ssize_t size = ::read(inotify_.native_handle(), buffer, sizeof buffer);
  for (ssize_t at = 0; at < size;) {
    inotify_event event;
    memcpy(&event, buffer + at, sizeof event);
    at += static_cast<ssize_t>(sizeof event + event.len);
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
      on_change_(kAll);
    } else if ((event.mask & kEvents) != 0) {
      on_change_(event.wd);
    }
  }
}

}  // namespace attune
