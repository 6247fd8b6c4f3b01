#pragma once
// Another thread wakes the io thread. An eventfd instead of asio::post: post() wakes the event loop
// while it holds the lock that the loop wants first, which costs two more thread switches.
#include <utility>  // Boost 1.74's asio/awaitable.hpp forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

namespace attune {

class Wakeup {
 public:
  // `woken` is called on the io thread, at least once after the last of any number of rings.
  Wakeup(boost::asio::io_context& io, std::function<void()> woken);

  void ring();  // from any thread

 private:
  void await();

  boost::asio::posix::stream_descriptor event_;
  const int fd_;
  const std::function<void()> woken_;
};

}  // namespace attune
