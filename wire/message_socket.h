#pragma once
// One TCP connection that carries JSON objects both ways (wire/json_frames.h), for a program
// without an event loop: it reads and writes only in turn(). What the messages mean is not known
// here.
//
// One thread at a time.
#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "wire/host_port.h"
#include "wire/json_frames.h"

namespace attune {

class MessageSocket {
 public:
  // Names are looked up by the system, which may take longer than `limit`. Errors name the address.
  static Result<MessageSocket> connect(const HostPort& where, std::chrono::milliseconds limit,
                                       const Clock& clock);

  // To be said by the turns that come. The error: too large for a frame.
  Result<void> say(const json& message);
  bool has_outgoing() const { return !outgoing_.empty(); }

  // Writes and reads what can be; waits up to `wait` until anything can. True: something came. An
  // error: the connection is lost, and why; what came before is still there for next().
  Result<bool> turn(std::chrono::milliseconds wait);

  // The next message that came, or nothing. An error: they cannot be understood any more.
  Result<std::optional<json>> next() { return decoder_.next(); }

 private:
  explicit MessageSocket(UniqueFd fd) : fd_(std::move(fd)) {}
  Result<void> write();
  Result<bool> read();

  UniqueFd fd_;
  std::string outgoing_;
  JsonFrameDecoder decoder_;
};

}  // namespace attune
