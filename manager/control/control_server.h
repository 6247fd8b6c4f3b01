#pragma once
// The manager's ear: a socket that only its user may open, at which other processes (attune stop,
// kill, add, import, update) ask for something. control_request.h has what.
//
// A line that is no JSON gets an error, and the connection lives on. A client that sends nothing or
// reads nothing for a while, or a line without end, is cut off; when there are too many clients the
// one that was silent longest goes. None of them can hold up the manager or the others.
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
  std::size_t line_bytes = std::size_t{4} << 20;
  std::size_t clients = 16;
  std::chrono::milliseconds silence{30'000};
};

class ControlServer {
 public:
  // Called on the thread of `io`. What it yields is an object; it is sent with "ok": true. An error
  // is sent with "ok": false.
  using Handler = std::function<Result<json>(const json& request)>;

  // Whoever calls holds the experiment's lock: what stands there already is a dead manager's.
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
