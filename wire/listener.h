#pragma once
// Accepts connections. Both sides prove that they know the secret of a role (handshake.h), the
// encryption begins, and the other side sends `hello`. Until then it is a stranger. The number of
// strangers, their memory and their time are bounded, so that nobody without a secret can use up
// what the coordinator has.
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
  std::string address = "127.0.0.1:0";            // HOST:PORT; port 0: a free one
  Secrets secrets = {};                           // of each role; must not be empty
  ConnectionOptions connection = {};              // for connections that are no strangers any more
  std::chrono::milliseconds hello_within{5'000};  // limit of a stranger, from accept to `hello`
  // Largest `hello`: a worker names all its tasks there. 1 MiB is enough for 10,000 of them.
  std::size_t hello_bytes = std::size_t{1} << 20;
  StrangerGate::Places strangers = {.all = 256, .each = 128};
  // Limit of a stranger while half of the places are taken, instead of `hello_within`.
  std::chrono::milliseconds crowded_within{250};
};

class Listener {
 public:
  // Gets a connection that is not started yet, the proven identity of the other side, and its
  // message of type `hello`, whose other fields are unchecked. The receiver sends `welcome` or
  // refuses.
  using OnHello =
      std::function<void(std::unique_ptr<Connection> connection, Identity peer, json hello)>;

  // Errors name the address: malformed, unknown host, in use, or not of this machine.
  static Result<std::unique_ptr<Listener>> listen(boost::asio::io_context& io,
                                                  ListenerOptions options, OnHello on_hello,
                                                  const Log& log);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();  // cuts off all strangers. Allowed from within on_hello

  const std::string& address() const;  // HOST:PORT as bound: a numeric host, the real port

 private:
  class State;
  explicit Listener(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace attune
