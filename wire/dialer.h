#pragma once
// The side that dials: connects, makes sure that it has reached whom it means (handshake.h), says
// hello, waits for the welcome, and tries again until it has a connection or is stopped.
//
// Io thread only. Callbacks come from the event loop and may do anything, also destroy the dialer.
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
  // Either a file that has both (address_file.h), and is read before each try: who comes back may
  // listen somewhere else, and has another secret. Or an address, with a secret or a file that has
  // it (read_secret_file) and is read before each try.
  std::string file = {};
  std::string address = {};  // HOST:PORT
  std::optional<Secret> secret = {};
  std::string secret_file = {};
  ConnectionOptions connection = {};  // its intervals are replaced by those of the welcome

  std::chrono::milliseconds try_for{10'000};  // from the first step to the welcome
  // Of a Backoff, between two tries.
  std::chrono::milliseconds first_pause{100}, longest_pause{5'000};
  // After a refusal that is final, as long as address and secret are the same.
  std::chrono::milliseconds refused_pause{60'000};
};

enum class DialState { connecting, connected, waiting, refused };

class Dialer {
 public:
  struct Handlers {
    // What `hello` has beside its type. Asked at each try, and said in encrypted form only.
    std::function<json()> hello;
    // The connection is not read until somebody starts it.
    std::function<void(std::unique_ptr<Connection> connection, json welcome)> on_connected;
    // Before each try and after it, with a sentence for humans. Refused: final, as far as the other
    // side can say; tried again after a longer pause. May be empty.
    std::function<void(DialState state, const std::string& reason)> on_state;
  };

  // `self`: what this side is. A file that is for another role is refused.
  Dialer(boost::asio::io_context& io, DialerOptions options, Identity self, const Rng& rng,
         Handlers handlers);
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;
  ~Dialer();  // stops

  // Tries until there is a connection, at once for the first time, else after a pause. Nothing when
  // it is doing so. To be called again when the connection is lost.
  void dial();
  // No callback comes any more, until dial().
  void stop();

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace attune
