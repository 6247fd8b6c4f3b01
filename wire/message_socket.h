#pragma once
// One TCP connection that carries JSON objects both ways (wire/json_frames.h), for a program
// without an event loop: it reads and writes only in turn(). It makes sure that it has reached whom
// it means (handshake.h), and then all is encrypted; until then nothing of what is to be said
// leaves. What the messages mean is not known here.
//
// One thread at a time.
#include <chrono>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "os/clock.h"
#include "os/unique_fd.h"
#include "wire/address_file.h"
#include "wire/handshake.h"
#include "wire/json_frames.h"
#include "wire/tls_session.h"

namespace attune {

class MessageSocket {
 public:
  // As `name` of the role that `where` is for. Names are looked up by the system, which may take
  // longer than `limit`. Errors name the address.
  static Result<MessageSocket> connect(const WireAddress& where, const std::string& name,
                                       std::chrono::milliseconds limit, const Clock& clock);

  // To be said by the turns that come. The error: too large for a frame.
  Result<void> say(const json& message);
  bool has_outgoing() const { return !outgoing_.empty() || !waiting_.empty(); }

  // Writes and reads what can be; waits up to `wait` until anything can. True: something came. An
  // error: the connection is lost, and why; what came before is still there for next().
  Result<bool> turn(std::chrono::milliseconds wait);

  // The next message that came, or nothing. An error: they cannot be understood any more.
  Result<std::optional<json>> next();

  // The handshake has failed, which turn() has told: another try would end in the same way.
  bool refused() const { return refused_; }

 private:
  MessageSocket(UniqueFd fd, const WireAddress& where, const std::string& name);
  Result<void> write();
  Result<bool> read();
  Result<void> take_in(std::string_view bytes);
  Result<void> meet();
  Result<void> encrypt();

  UniqueFd fd_;
  std::string waiting_;   // frames that are not encrypted yet
  std::string outgoing_;  // as it is written
  JsonFrameDecoder decoder_;
  ClientHandshake handshake_;
  std::optional<TlsSession> tls_;  // none: the other side has not proven itself yet
  bool refused_ = false;
};

}  // namespace attune
