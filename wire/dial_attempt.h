#pragma once
// One attempt of a dialer: looks the host up, connects, runs the handshake, sends hello, and waits
// for the welcome. Reports its outcome once. Io thread only.
#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "wire/connection.h"
#include "wire/handshake.h"

namespace attune {

class DialAttempt {
 public:
  struct Outcome {
    std::unique_ptr<Connection> connection;  // not started yet; null: the attempt failed
    json welcome;                            // the welcome message of the other side
    std::string reason;                      // why it failed
    bool final = false;                      // another attempt would end in the same way
  };
  using Done = std::function<void(Outcome)>;

  // `hello` is sent encrypted, only after the other side has proven that it knows the secret. The
  // event loop calls `done`, at the latest after `limit`.
  DialAttempt(boost::asio::io_context& io, const std::string& address, Identity self,
              const Secret& secret, json hello, const ConnectionOptions& options,
              std::chrono::milliseconds limit, Done done);
  DialAttempt(const DialAttempt&) = delete;
  DialAttempt& operator=(const DialAttempt&) = delete;
  ~DialAttempt();  // ends the attempt without calling `done`. Allowed from within `done`

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace attune
