#pragma once
// Where others dial. The first thing that they say must be `hello`, with the version and the token
// that are expected here: {type: hello, version, role, token, ...}. Until then they may cost
// neither much memory nor much time, and their number is bounded.
//
// Io thread only.
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "wire/connection.h"
#include "wire/wire_version.h"

namespace attune {

struct ListenerOptions {
  std::string address = "127.0.0.1:0";  // HOST:PORT; port 0: a free one
  std::string token = {};               // not empty
  int version = kWireVersion;
  ConnectionOptions connection = {};  // once they are known
  std::chrono::milliseconds hello_within{5'000};
  std::size_t hello_bytes = std::size_t{1} << 20;  // a worker names the thousands of tasks it has
  std::size_t strangers = 64;  // who have not said hello, or were refused; the oldest goes
};

class Listener {
 public:
  // A connection that is not read until somebody starts it, and what its other side said, without
  // the token: `role` is a text, nothing else was looked at. Whoever gets it answers `welcome`, or
  // refuses it.
  using OnHello = std::function<void(std::unique_ptr<Connection> connection, json hello)>;

  // Errors name the address: it is none, no such host, in use, not of this machine.
  static Result<std::unique_ptr<Listener>> listen(boost::asio::io_context& io,
                                                  ListenerOptions options, OnHello on_hello,
                                                  const Log& log);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();  // those who have not been handed over are cut off; also out of on_hello

  const std::string& address() const;  // HOST:PORT as it is bound, with the host as a number

 private:
  class State;
  explicit Listener(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace attune
