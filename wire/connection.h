#pragma once
// One TCP connection that carries JSON objects both ways. Of what they mean it knows four: `ping`,
// which it answers, and `pong`, which neither reach the owner; `error`, with which it refuses;
// `type` is where the word stands. After secure() all of it is encrypted.
//
// Io thread only. Callbacks come from the event loop, never out of a call into the connection, and
// may do anything with it, destroy it too. The io_context must outlive it.
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
  JsonFrameLimits frames = {};  // of what comes; `bytes` also of what goes
  // Bytes that wait for the other side to take them: from here on the connection is congested,
  std::size_t congested_bytes = std::size_t{4} << 20;
  // and from here on it is closed.
  std::size_t most_outgoing_bytes = std::size_t{64} << 20;
  // A ping after this time without a byte in one of the directions.
  std::chrono::milliseconds ping{10'000};
  // Closed when nothing came for this time, up to a quarter of the shorter interval more. Only
  // time in which the event loop turns counts: a process that was stopped cuts nobody off.
  std::chrono::milliseconds silence{30'000};
  // After close(): for the last words to leave, and for the other side to take them.
  std::chrono::milliseconds farewell{2'000};
};

class Connection {
 public:
  struct Handlers {
    std::function<void(json message)> on_message;
    // Once, and nothing comes after it. What came before the other side closed has been given. The
    // reason tells an end that the other side has said from a connection that was cut.
    std::function<void(const std::string& reason)> on_closed;
    std::function<void()> on_room;  // was congested, and half of that is left; may be empty
  };
  // Urgent ones overtake data that has not been given to the system, whole frames; each lane keeps
  // its order.
  enum class Lane { urgent, data };

  // Of a connected TCP socket.
  Connection(boost::asio::io_context& io, UniqueFd socket, const ConnectionOptions& options);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  // No callback comes any more. What close() has begun is brought to its end.
  ~Connection();

  // Begins to read. Again: somebody else takes over, also when reading was paused, and hears of
  // everything that the former handlers have not been told of.
  void start(Handlers handlers);

  // Encrypts everything from here on: what was sent before leaves as it is, and what came behind
  // the message that is being given is not read as a frame. Once, out of on_message. What is sent
  // waits until the other side has shown that it has the key. If it has not, or what comes was
  // changed on the way, the connection ends; only messages of the other side are ever given.
  void secure(TlsSession session);

  // An object; the error is that it is too large for a frame. Without effect on a connection that
  // is closing or closed. Nothing is sent at once: who sends more than is taken is disconnected.
  Result<void> send(const json& message, Lane lane = Lane::data);
  bool congested() const;
  std::size_t outgoing_bytes() const;

  // While paused nothing is read, so that the other side is slowed down in its turn; neither
  // its silence nor its end is noticed. Two sides that each wait for the other one to read would
  // wait for ever: do not pause because this same connection is congested.
  void pause_reading();
  void resume_reading();

  void close(const std::string& reason);  // after what was sent; on_closed comes then
  // The same after {type: error, message, final, code}. Final: another try would end in the same
  // way. `code`: why, for programs; may be empty.
  void refuse(const std::string& message, bool final = false, std::string_view code = {});
  void drop(const std::string& reason);  // at once, without a word

  // By now one knows better what the other side does, and what it may be trusted with.
  void set_intervals(std::chrono::milliseconds ping, std::chrono::milliseconds silence);
  void set_frame_limits(const JsonFrameLimits& frames);

  const std::string& peer() const;  // 127.0.0.1:4711, for messages

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace attune
