#include "daemon/wakeup.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"

namespace attune {
namespace {

int make_event() {
  const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  ATTUNE_CHECK(fd >= 0);
  return fd;
}

}  // namespace

Wakeup::Wakeup(boost::asio::io_context& io, std::function<void()> woken)
    : event_(io, make_event()), fd_(event_.native_handle()), woken_(std::move(woken)) {
  await();
}

void Wakeup::ring() {
  const eventfd_t one = 1;
  ::eventfd_write(fd_, one);  // fails only when the counter is full: then it is rung already
}

void Wakeup::await() {
  event_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [this](const boost::system::error_code& error) {
                      if (error) return;
                      eventfd_t rings = 0;
                      ::eventfd_read(fd_, &rings);
                      await();
                      woken_();
                    });
}

}  // namespace attune
