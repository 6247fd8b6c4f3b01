#pragma once
// The side that dials: connects, checks that the other side knows the secret (handshake.h), sends
// hello, and waits for the welcome. Tries again until it has a connection or is stopped.
//
// Io thread only. Callbacks come from the event loop. They may call or destroy the dialer.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/rng.h"
#include "wire/connection.h"
#include "wire/handshake.h"

namespace attune {

struct DialerOptions {
  // Either an address file (address_file.h), or an address with a secret or with a file that holds
  // it (read_secret_file). Files are read before each attempt: a coordinator that was restarted has
  // another secret, and may listen elsewhere.
  std::string file = {};
  std::string address = {};  // HOST:PORT
  std::optional<Secret> secret = {};
  std::string secret_file = {};
  ConnectionOptions connection = {};  // the welcome replaces `ping` and `silence`

  std::chrono::milliseconds try_for{10'000};  // limit of one attempt, including the welcome
  // Between two attempts: the pause doubles each time, and a part of it is random (Backoff).
  std::chrono::milliseconds first_pause{100}, longest_pause{5'000};
  // Between two attempts after a final refusal, while address and secret stay the same.
  std::chrono::milliseconds refused_pause{60'000};
};

enum class DialState { connecting, connected, waiting, refused };

class Dialer {
 public:
  struct Handlers {
    // Returns the fields of `hello` except its type. Called at each attempt; sent encrypted only.
    std::function<json()> hello;
    // Gives a connection that is not started yet: nothing is read before Connection::start().
    std::function<void(std::unique_ptr<Connection> connection, json welcome)> on_connected;
    // Called before and after each attempt, with a sentence for users. `refused`: the other side
    // called its refusal final; the dialer tries again after `refused_pause`. May be empty.
    std::function<void(DialState state, const std::string& reason)> on_state;
  };

  // `self`: role and name of this side. An address file for another role is not used.
  Dialer(boost::asio::io_context& io, DialerOptions options, Identity self, const Rng& rng,
         Handlers handlers);
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;
  ~Dialer();  // stops

  // Tries until there is a connection: the first call at once, later ones after a pause. No effect
  // while it is trying. Call it again when the connection is lost.
  void dial();
  // Ends all attempts. No callback comes until the next dial().
  void stop();

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace attune
