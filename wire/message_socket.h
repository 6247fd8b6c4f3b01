#pragma once
// One TCP connection that carries JSON objects in both directions (wire/json_frames.h), for a
// program without an event loop: it reads and writes only in turn(). It first checks that the other
// side knows the secret (handshake.h). Messages wait until then, and leave encrypted only.
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
  // Connects to `where`, in its role, under `name`. Blocks for up to `limit`, or longer if the
  // system takes longer to look the host name up. Errors name the address.
  static Result<MessageSocket> connect(const WireAddress& where, const std::string& name,
                                       std::chrono::milliseconds limit, const Clock& clock);

  // Queues a message for the next turns. Error: it is too large for a frame.
  Result<void> say(const json& message);
  bool has_outgoing() const { return !outgoing_.empty() || !waiting_.empty(); }

  // Waits up to `wait` until the socket can be read or written, then reads and writes what it can
  // without blocking. True: bytes came. An error says why the connection is lost; next() still
  // returns the messages that came before.
  Result<bool> turn(std::chrono::milliseconds wait);

  // The next received message, or nothing. An error: the stream cannot be read further.
  Result<std::optional<json>> next();

  // turn() has failed because the handshake was refused: another attempt would end in the same way.
  bool refused() const { return refused_; }

 private:
  MessageSocket(UniqueFd fd, const WireAddress& where, const std::string& name);
  Result<void> write();
  Result<bool> read();
  Result<void> take_in(std::string_view bytes);
  Result<void> meet();
  Result<void> encrypt();

  UniqueFd fd_;
  std::string waiting_;   // frames to encrypt once the other side has proven itself
  std::string outgoing_;  // bytes to write as they are
  JsonFrameDecoder decoder_;
  ClientHandshake handshake_;
  std::optional<TlsSession> tls_;  // none: the other side has not proven itself yet
  bool refused_ = false;
};

}  // namespace attune
