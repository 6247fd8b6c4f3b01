#pragma once
// The manager's side of docs/protocol.md, "Exactly once". It numbers the commands to the daemon and
// the answers from it, keeps commands and counts in an Outbox, releases a command only after the
// commit that stores it, and finds out which commands a restarted daemon lacks. No I/O: the owner
// (DaemonDecider) sends and receives the frames.
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
  // `left`: what an earlier manager stored; nothing: no conversation is stored. `outbox` outlives
  // this object.
  Conversation(Outbox& outbox, std::optional<Outbox::Left> left);

  // The counts that a new daemon must be given in order to continue exactly; nothing: it cannot.
  // They cover only what is committed, so the owner starts no daemon before all_kept().
  std::optional<Outbox::Counts> shared() const;
  bool all_kept() const { return counts_ == kept_; }

  // The owner has started a daemon. It may be sent commands (is_open()) only after begin().
  void begin_life() { open_ = false; }
  bool is_open() const { return open_; }
  enum class Begun { exactly, anew };
  // The daemon's ID has come. `asked`: the daemon was given shared().
  //   exactly: the daemon continues. take() returns the commands that it lacks, then new ones.
  //   anew: the daemon knows nothing, and all counts begin again. take() returns the commands that
  //     this manager said before its first daemon began, and new ones; the owner must tell the
  //     rest.
  // Error: the daemon's journal and the outbox do not belong together.
  Result<Begun> begin(const Initialized& initialized, bool asked);

  void say(Frame command);  // adds a command; take() returns it after the next kept()
  void heard();             // counts an answer; call it before the answer is acted upon
  // A PO has come. Returns whether it answers a ping() of this class, so that nobody else needs it.
  bool acknowledged(const Pong& pong);

  // Adds the command PI, which asks up to which command the daemon's journal is written. Before it,
  // if there are new answers, RC, which tells the daemon that they are stored. Does nothing unless
  // wants_ping(). say() calls it after kPingEvery commands; besides, the owner calls it by a timer.
  static constexpr std::uint64_t kPingEvery = 256;
  void ping();
  bool wants_ping() const { return said_since_ping_ > 0 && !ping_open_; }

  void kept() { kept_ = counts_; }  // a commit has stored everything said and heard so far
  // The next command to send to the daemon that lives, each once; nothing: there is none that is
  // committed, or !is_open().
  std::optional<Frame> take();
  std::size_t untaken_bytes() const { return untaken_; }  // of commands that take() will return

 private:
  void append(Frame command);
  Result<Begun> go_on(std::uint64_t through);
  void begin_anew();
  void leave_out_terminate(std::uint64_t through);

  Outbox& outbox_;
  Outbox::Counts counts_, kept_;
  std::deque<Frame> commands_;  // numbers counts_.acknowledged + 1 to counts_.commands
  bool exact_;                  // the counts are those of a daemon that lives, or has lived
  bool open_ = false;           // a daemon has sent its ID
  bool met_ = false;            // a daemon has done so since this object was made
  std::uint64_t taken_ = 0;     // the number of the last command that take() returned, or that
                                // the daemon had before
  std::uint64_t earlier_ = 0;   // the number of the last command of earlier managers
  std::size_t untaken_ = 0;     // bytes of the commands above taken_
  std::uint64_t said_since_ping_ = 0;
  bool ping_open_ = false;          // its PO has not come yet
  std::uint64_t told_answers_ = 0;  // the number in the last RC
};

}  // namespace attune
