#pragma once
// One WebSocket connection, as its client: RFC 6455 without compression. Pings are answered while a
// read is under way. Io thread only; the one source behind it is the only one that knows Beast.
//
// At most one of each operation at a time; their callbacks come from the event loop. Destroy it
// only when it is idle, or when the event loop will not run again.
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "daemon/websocket_url.h"

namespace attune {

class WebSocketConnection {
 public:
  // Why it cannot be used any further.
  struct Failure {
    std::string what;
    bool final = false;  // another try would end in the same way: the other side is at fault
  };
  using Done = std::function<void(const Failure*)>;  // null: it worked

  struct Message {
    std::string data;  // whole and, when it is text, valid UTF-8
    bool is_text = true;
    bool too_large = false;  // data has its beginning only; the rest is skipped
  };
  using OnMessage = std::function<void(const Failure*, const Message&)>;

  WebSocketConnection(boost::asio::io_context& io, std::size_t max_message);
  ~WebSocketConnection();

  // Every address of the host in turn, and the handshake. Knows no deadline.
  void connect(const WebSocketUrl& url, Done done);
  void read(OnMessage on_message);
  void write(std::string text, Done done);  // one message, one frame
  // After the last write. Done when the other side has closed too, which may be never.
  void close(std::uint16_t code, const std::string& reason, Done done);

  // Ends it without a word, in any state: no callback comes any more.
  void drop();
  bool idle() const;  // no operation refers to it any more

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune
