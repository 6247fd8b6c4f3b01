#pragma once
// One try of a dialer: look-up, connection, handshake, hello, welcome; whatever becomes of it is
// told once.
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
    std::unique_ptr<Connection> connection;  // not read; none: it failed
    json welcome;
    std::string reason;  // why it failed
    bool final = false;  // another try would end in the same way
  };
  using Done = std::function<void(Outcome)>;

  // `hello` is what is said when the other side has shown that it knows the secret, not before.
  // `done` comes from the event loop, at the latest after `limit`.
  DialAttempt(boost::asio::io_context& io, const std::string& address, Identity self,
              const Secret& secret, json hello, const ConnectionOptions& options,
              std::chrono::milliseconds limit, Done done);
  DialAttempt(const DialAttempt&) = delete;
  DialAttempt& operator=(const DialAttempt&) = delete;
  ~DialAttempt();  // ends it; `done` does not come any more. Also out of `done`

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace attune
