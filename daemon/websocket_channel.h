#pragma once
// Frames over a WebSocket whose server is the manager: NNI 2.8 to 2.10 (Dialect::v2) and 3.0
// (Dialect::v3), told apart by the first message.
//
// Messages are read ahead of the queues, so that pings are answered while the queues are full;
// beyond max_ahead bytes the manager has to wait like any other. In 3.0 a connection that drops
// without a good-bye is made again and what waited is sent then, beginning with the message that
// was being written; before 3.0 a drop is the end of input. It is never made to another manager:
// none is made when the process of the manager has ended, and one that says Initialize again is let
// go.
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
  // So long, at most, a lost connection keeps the daemon from noticing that its manager has gone.
  std::chrono::milliseconds longest_reconnecting() const {
    std::chrono::milliseconds longest{0};
    for (const std::chrono::milliseconds pause : pauses) longest += pause + try_for;
    return longest;
  }
  // For the other side's answer to our close.
  std::chrono::milliseconds close_for{50};
};

// on_end(kExitConfiguration) when no connection can be made. `manager`: a pidfd of the manager's
// process; none: only the connection tells of its end.
std::unique_ptr<Channel> make_websocket_channel(boost::asio::io_context& io, WebSocketUrl url,
                                                WebSocketOptions options, UniqueFd manager,
                                                Log log);

}  // namespace attune
