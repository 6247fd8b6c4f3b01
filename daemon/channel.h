#pragma once
// The connection to the manager, as the server sees it: frames in, frames out. Pipes and WebSockets
// implement it; only they know descriptors, framing and buffers. Io thread only.
#include <cstddef>
#include <optional>

#include "base/result.h"
#include "dispatcher/sink.h"
#include "protocol/frame.h"

namespace attune {

// How the daemon ends the conversation.
enum class Parting {
  agreed,  // the manager asked for it, or has gone
  failed,  // the manager did not ask for it: close() first lets it notice the failure
};

// Called from the event loop, never from inside a call into the channel.
class ChannelEvents {
 public:
  virtual ~ChannelEvents() = default;
  virtual void on_input() = 0;  // answers receive(): next() has something
  // No more commands will come, or nobody reads the answers. The channel has logged why; `code` is
  // to be the daemon's exit code. Only the first call counts.
  virtual void on_end(ExitCode code) = 0;
  virtual void on_output() = 0;  // backlog() has shrunk, or a pending close() has got on
};

class Channel {
 public:
  virtual ~Channel() = default;

  // Called once, before anything else. A WebSocket begins to connect.
  virtual void open() = 0;
  // Events go to `events` from now on. Must be called before any of the calls below. `events` must
  // outlive the last event.
  virtual void attach(ChannelEvents& events) = 0;

  // Asks for more input, when next() has nothing: on_input or on_end follows once, however often
  // it was asked for before that.
  virtual void receive() = 0;
  // The next frame, nothing when there is none yet, or why the input cannot be read any further.
  virtual Result<std::optional<Frame>> next() = 0;
  // Cancels receive(): the caller wants no more input.
  virtual void stop_receiving() = 0;

  // Queues a frame; drops it when the manager has gone. Fails when it is larger than a frame may
  // be.
  virtual Result<void> send(const Frame& frame) = 0;
  // Bytes that were sent and not yet handed to the operating system, beside those being written.
  virtual std::size_t backlog() const = 0;
  // Says good-bye once everything is written. True: done; false: on_output follows, and then
  // close() must be called again. After the first call nothing may be sent or received.
  //
  // With Parting::failed a plain NNI manager gets time to notice. NNI 2.7 notices nothing but a
  // command that nobody has read: the channel waits for one. NNI 2.8 to 2.10 dies of a connection
  // that ends before it has said Terminate: the channel stays connected until the manager says so
  // or has gone, however long that takes.
  virtual bool close(Parting how) = 0;
};

}  // namespace attune
