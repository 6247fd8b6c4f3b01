#pragma once
// The process of the manager that started this one.
#include <utility>  // Boost 1.74's asio/awaitable.hpp forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

#include "os/unique_fd.h"

namespace attune {

// A pidfd of it; none when it cannot be told.
//
// NNI's managers start attuned by a shell, and a user may put a script between: all of those have
// --exp_params on their command lines. The nearest ancestor without it is the manager. Where
// nothing has it, attuned was started by other means, and whoever did so may end before the
// manager does.
UniqueFd find_manager();

class ManagerProcess {
 public:
  // Without a pidfd it never ends.
  ManagerProcess(boost::asio::io_context& io, UniqueFd pidfd);

  bool has_ended();  // asks the system: the event may still be on its way
  void await_end(std::function<void()> ended);  // called once, from the event loop

 private:
  boost::asio::posix::stream_descriptor pidfd_;  // readable once the process has ended
};

}  // namespace attune
