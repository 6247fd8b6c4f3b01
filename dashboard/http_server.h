#pragma once
// An HTTP/1.1 server on an io_context: it reads requests, hands them out, and writes responses and
// streams of events. It knows nothing of what it serves.
//
// No client can hold up the others, or make the server keep more than HttpLimits allow. If there
// are too many connections, the server closes one that waits for its client, to send a request or
// to read a response: that which has done neither for longest.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "dashboard/http_message.h"

namespace attune {

struct HttpLimits {
  std::size_t header_bytes = 16 << 10;
  std::size_t body_bytes = 4 << 20;
  std::size_t connections = 256;
  std::chrono::milliseconds request{10'000};  // from its first byte until it is whole
  std::chrono::milliseconds idle{60'000};     // between two requests
  std::chrono::milliseconds write{30'000};    // until a client has read some more of a response
};

// A stream of server-sent events to one client. Each event replaces those before it that the
// client has not read yet, so a slow client gets fewer events, and always the newest. Used on the
// thread of the io_context.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // Errors show in is_open(). `id` and `name` have no line ends.
  virtual void send(const std::string& name, const std::string& id, const std::string& data) = 0;
  virtual void keep_alive() = 0;  // sends a comment, so that proxies and clients see life
  virtual void close() = 0;
  virtual bool is_open() const = 0;
};

// The answer to one request. Call one of the two, once, on the thread of the io_context. If neither
// is called, the connection is closed.
class HttpAnswer {
 public:
  virtual ~HttpAnswer() = default;
  virtual void send(HttpResponse response) = 0;
  virtual std::shared_ptr<EventStream> stream() = 0;
};

class HttpServer {
 public:
  // Called on the thread of the io_context.
  using Handler = std::function<void(HttpRequest request, std::shared_ptr<HttpAnswer> answer)>;
  // How many bytes of a body a request with this head may have, at most HttpLimits::body_bytes: the
  // server reads nothing that its sender may not send anyway. The request has no body yet.
  using BodyLimit = std::function<std::size_t(const HttpRequest& head)>;

  // `address`: as for open_listening_sockets() (dashboard/listening_sockets.h). Errors name it.
  static Result<std::unique_ptr<HttpServer>> listen(boost::asio::io_context& io,
                                                    const std::string& address, Handler handler,
                                                    BodyLimit body_limit, HttpLimits limits = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();  // closes all connections; the handler is not called again

  const std::string& address() const;  // as given, with the port that was chosen
  bool is_loopback() const;            // only this machine can reach it

 private:
  struct State;
  class Connection;
  explicit HttpServer(std::shared_ptr<State> state);
  struct Listener;
  static void accept(const std::shared_ptr<State>& state, Listener& listener);
  std::shared_ptr<State> state_;
};

}  // namespace attune
