#pragma once
// Finds and watches the manager's process, which started this one.
#include <utility>  // Boost 1.74's asio/awaitable.hpp forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

#include "os/unique_fd.h"

namespace attune {

// Returns a pidfd of the manager's process; none if it cannot be found.
//
// NNI's managers start attuned through a shell, and a user may put a script between: all of those
// have --exp_params on their command lines. The nearest ancestor without it is the manager. If
// neither attuned nor its parent has it, attuned was started by other means, and whoever started it
// may end before the manager does: then there is none.
UniqueFd find_manager();

class ManagerProcess {
 public:
  // Without a pidfd the process counts as running for ever.
  ManagerProcess(boost::asio::io_context& io, UniqueFd pidfd);

  bool has_ended();  // asks the system: the event may still be on its way
  void await_end(std::function<void()> ended);  // called once, from the event loop

 private:
  boost::asio::posix::stream_descriptor pidfd_;  // readable once the process has ended
};

}  // namespace attune
