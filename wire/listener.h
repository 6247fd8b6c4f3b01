#pragma once
// Where others dial. Both sides prove that they know the secret of a role (handshake.h), then all
// is encrypted, and then the other side says `hello`. Until it has proven itself it is a stranger:
// strangers may cost neither much memory nor much time, and their number is bounded.
//
// Io thread only.
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "os/log.h"
#include "wire/connection.h"
#include "wire/handshake.h"
#include "wire/stranger_gate.h"

namespace attune {

struct ListenerOptions {
  std::string address = "127.0.0.1:0";  // HOST:PORT; port 0: a free one
  Secrets secrets = {};                 // of each role; not empty
  ConnectionOptions connection = {};    // once they are known
  std::chrono::milliseconds hello_within{5'000};
  std::size_t hello_bytes = std::size_t{1} << 20;  // a worker names the thousands of tasks it has
  StrangerGate::Places strangers = {.all = 256, .each = 128};
  // While half of those places are taken or more, strangers have only so long.
  std::chrono::milliseconds crowded_within{250};
};

class Listener {
 public:
  // A connection that is not read until somebody starts it, who the other side is, as it has
  // proven, and what it said then, a message of the type `hello` of which nothing else was looked
  // at. Whoever gets it answers `welcome`, or refuses it.
  using OnHello =
      std::function<void(std::unique_ptr<Connection> connection, Identity peer, json hello)>;

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
