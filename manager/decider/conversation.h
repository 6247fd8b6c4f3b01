#pragma once
// The manager's side of docs/protocol.md, "Exactly once": numbers what is said to the daemon and
// what is heard from it, keeps both in an Outbox, lets nothing leave before it is kept, and knows
// what a daemon that was started again has to hear once more. No I/O: the owner carries the frames.
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "manager/decider/outbox.h"
#include "protocol/command.h"

namespace attune {

class Conversation {
 public:
  // `left`: by an earlier manager; nothing: there was no conversation. `outbox` outlives this.
  Conversation(Outbox& outbox, std::optional<Outbox::Left> left);

  // What a daemon that starts now must know of to go on exactly; nothing: it cannot. Only what was
  // kept counts: whoever starts one waits until all_kept().
  std::optional<Outbox::Counts> shared() const;
  bool all_kept() const { return counts_ == kept_; }

  void begin_life() { open_ = false; }  // a daemon starts, and listens after its ID
  bool is_open() const { return open_; }
  enum class Begun { exactly, anew };
  // Its ID; `asked`: it was told shared(). `exactly`: take() gives what it has to hear, next
  // comes what is said from now on. `anew`: it knows nothing. What this manager has said before its
  // first daemon began is said to it, nothing else. An error: it is the daemon of another
  // conversation.
  Result<Begun> begin(const Initialized& initialized, bool asked);

  void say(Frame command);
  void heard();  // an answer that counts, before it is acted upon
  // A PO; whether it was one of our own.
  bool acknowledged(const Pong& pong);

  // Asks which commands the daemon will not forget, and tells it which answers we will not. Said by
  // itself after kPingEvery commands; otherwise the owner does it, at most once a second, while
  // wants_ping().
  static constexpr std::uint64_t kPingEvery = 256;
  void ping();
  bool wants_ping() const { return said_since_ping_ > 0 && !ping_open_; }

  void kept() { kept_ = counts_; }  // all that was said and heard so far
  // The next command that may leave, once each in the life of a daemon.
  std::optional<Frame> take();
  std::size_t untaken_bytes() const { return untaken_; }

 private:
  void append(Frame command);
  Result<Begun> go_on(std::uint64_t through);
  void begin_anew();
  void leave_out_terminate(std::uint64_t through);

  Outbox& outbox_;
  Outbox::Counts counts_, kept_;
  std::deque<Frame> commands_;  // those above counts_.acknowledged
  bool exact_;                  // there is a daemon, or was one, that shares the counts
  bool open_ = false;           // a daemon listens
  bool met_ = false;            // one has, in this life of the manager
  std::uint64_t taken_ = 0;     // by the daemon that lives
  std::uint64_t earlier_ = 0;   // commands of earlier managers
  std::size_t untaken_ = 0;     // bytes of commands above taken_
  std::uint64_t said_since_ping_ = 0;
  bool ping_open_ = false;
  std::uint64_t told_answers_ = 0;
};

}  // namespace attune
