#pragma once
// One TCP connection that carries JSON objects in both directions. The member `type` names a
// message. The connection itself handles three types: it answers `ping`, drops `pong` (neither
// reaches the owner), and sends `error` when it refuses. After secure() everything is encrypted.
//
// Io thread only. Callbacks come from the event loop, never from within a call of the owner. They
// may call or destroy the connection. The io_context must outlive it.
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "os/unique_fd.h"
#include "wire/json_frames.h"
#include "wire/tls_session.h"

namespace boost::asio {
class io_context;
}

namespace attune {

struct ConnectionOptions {
  JsonFrameLimits frames = {};  // of received frames; `bytes` also limits sent ones
  // With so many bytes waiting to be sent, the connection is congested: the owner should pause.
  std::size_t congested_bytes = std::size_t{4} << 20;
  // With so many, the connection is closed, so that a peer that does not read cannot use up our
  // memory.
  std::size_t most_outgoing_bytes = std::size_t{64} << 20;
  // Sends a ping after so long without a byte in either one of the directions.
  std::chrono::milliseconds ping{10'000};
  // Closes after so long without a received byte, or up to a quarter of the shorter of `ping` and
  // `silence` later. Only time in which the event loop runs counts: after this process was stopped
  // for a while, peers must not be cut off for a silence that we caused.
  std::chrono::milliseconds silence{30'000};
  // After close(): how long it may take until the other side has taken the remaining bytes.
  std::chrono::milliseconds farewell{2'000};
};

class Connection {
 public:
  struct Handlers {
    std::function<void(json message)> on_message;
    // Called once, as the last callback, after all messages that came before the end. The reason
    // tells whether the other side closed in order or the connection was cut.
    std::function<void(const std::string& reason)> on_closed;
    // The connection was congested, and has sent down to half of `congested_bytes`. May be empty.
    std::function<void()> on_room;
  };
  // Urgent frames overtake data frames that the operating system has not accepted yet. Each lane
  // keeps its order, and frames are never interleaved.
  enum class Lane { urgent, data };

  // `socket` is a connected TCP socket.
  Connection(boost::asio::io_context& io, UniqueFd socket, const ConnectionOptions& options);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  // No callback comes after it. A close() that has begun is completed in the background.
  ~Connection();

  // Begins to read. A second call hands the connection to other handlers, also while reading is
  // paused: they get everything that the former ones have not been given.
  void start(Handlers handlers);

  // Encrypts everything from here on. Call it once, from on_message: bytes behind that message are
  // ciphertext, not a frame. Messages sent before leave in clear; later ones wait until the other
  // side has shown that it has the key. If it has not, or bytes were changed on the way, the
  // connection ends: the owner only ever gets messages of a side that has the key.
  void secure(TlsSession session);

  // Queues an object. Error: it is too large for a frame. Without effect when the connection is
  // closing or closed. Never blocks; beyond `most_outgoing_bytes` the connection is closed.
  Result<void> send(const json& message, Lane lane = Lane::data);
  bool congested() const;
  std::size_t outgoing_bytes() const;

  // While paused nothing is read, which slows the other side down. Its silence and its end are not
  // noticed meanwhile. Never pause because this same connection is congested: two sides that do so
  // would each wait for the other one to read, for ever.
  void pause_reading();
  void resume_reading();

  void close(const std::string& reason);  // sends what is queued, then calls on_closed
  // Sends {type: error, message, final, code}, then closes. `final`: another attempt would end in
  // the same way. `code`: the reason, for programs; may be empty.
  void refuse(const std::string& message, bool final = false, std::string_view code = {});
  void drop(const std::string& reason);  // closes at once; queued messages are lost

  // For the moment when the owner knows who the other side is: other intervals, larger frames.
  void set_intervals(std::chrono::milliseconds ping, std::chrono::milliseconds silence);
  void set_frame_limits(const JsonFrameLimits& frames);

  const std::string& peer() const;  // address of the other side as 127.0.0.1:4711, for messages

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace attune
