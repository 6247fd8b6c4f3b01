#pragma once
// The control socket of a running manager: a Unix socket that only its user may open. Other
// processes (attune stop, kill, add, import, update) send requests to it, and get answers.
// control_request.h describes both.
//
// No client can hold up the manager or the other clients. A line that is no JSON is answered with
// an error, and the connection stays. The server closes the connection of a client that sends
// nothing, or does not read its answer, for ControlLimits::silence, and of one that sends too long
// a line. If there are too many clients, it closes the one that was silent longest.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "base/json.h"
#include "base/result.h"

namespace attune {

struct ControlLimits {
  std::size_t line_bytes = std::size_t{4} << 20;  // of a request
  std::size_t clients = 16;                       // connected at once
  std::chrono::milliseconds silence{30'000};
};

class ControlServer {
 public:
  // Called on the thread of `io` for each request. Returns a JSON object, to which the server adds
  // "ok": true. An error is sent as the text "error" with "ok": false.
  using Handler = std::function<Result<json>(const json& request)>;

  // Listens in the experiment's folder `directory`. The caller holds the experiment's lock: a
  // socket that is there already is that of a dead manager, and is replaced.
  static Result<std::unique_ptr<ControlServer>> listen(boost::asio::io_context& io,
                                                       const std::filesystem::path& directory,
                                                       Handler handler, ControlLimits limits = {});
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;
  ~ControlServer();  // closes all connections, removes the socket; the handler is not called again

 private:
  struct State;
  class Connection;
  explicit ControlServer(std::shared_ptr<State> state);
  static void accept(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace attune
