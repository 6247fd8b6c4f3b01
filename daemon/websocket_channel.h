#pragma once
// Frames over a WebSocket whose server is the manager: NNI 2.8 to 2.10 (Dialect::v2) and 3.0
// (Dialect::v3), told apart by the first message.
//
// Reads messages ahead of the queues, so that pings are answered while the queues are full. Beyond
// max_ahead bytes it stops reading, and the manager has to wait.
//
// If a connection of NNI 3.0 is lost without a good-bye, the channel connects again, and then sends
// what waited, beginning with the message that was being written. Before 3.0 a lost connection is
// the end of input. The channel never serves another manager: it does not connect when the
// manager's process has ended, and it leaves a manager that says Initialize on a connection made
// again.
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <vector>

#include "daemon/channel.h"
#include "daemon/websocket_url.h"
#include "os/log.h"
#include "os/unique_fd.h"

namespace attune {

struct WebSocketOptions {
  std::size_t max_payload = 64u << 20;  // of a message, in both directions
  std::size_t max_ahead = 8u << 20;     // bytes read and not yet taken
  // How long the first connection is tried, which is also how long NNI's manager waits for it, and
  // how long to rest after a try that failed.
  std::chrono::milliseconds connect_for{10'000}, connect_pause{100};
  // The pause before each try to connect again, as NNI's client, and how long such a try may take:
  // all of it fits into the 30 s that the manager waits.
  std::vector<std::chrono::milliseconds> pauses{
      std::chrono::milliseconds(0), std::chrono::milliseconds(1000),
      std::chrono::milliseconds(2000), std::chrono::milliseconds(3000),
      std::chrono::milliseconds(4000)};
  std::chrono::milliseconds try_for{4000};
  // The longest time for which reconnecting can keep the daemon from noticing that its manager has
  // gone.
  std::chrono::milliseconds longest_reconnecting() const {
    std::chrono::milliseconds longest{0};
    for (const std::chrono::milliseconds pause : pauses) longest += pause + try_for;
    return longest;
  }
  // How long to wait for the other side's answer to our close.
  std::chrono::milliseconds close_for{50};
};

// If no connection can be made, on_end(kExitConfiguration) follows. `manager`: a pidfd of the
// manager's process; without one only the connection tells of its end.
std::unique_ptr<Channel> make_websocket_channel(boost::asio::io_context& io, WebSocketUrl url,
                                                WebSocketOptions options, UniqueFd manager,
                                                Log log);

}  // namespace attune
