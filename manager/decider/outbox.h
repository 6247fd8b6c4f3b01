#pragma once
// The interface to the store for the conversation with the daemon: commands, and the counts that
// tell both sides what the other one has read (docs/protocol.md, "Exactly once").
//
// A command is stored by the same commit as the change of state that caused it, so that the store
// has both or none. The command is sent after that commit.
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "protocol/frame.h"

namespace attune {

class Outbox {
 public:
  // Commands and answers are numbered from 1, over all managers and daemons of the experiment.
  // These are the last numbers; 0: none yet.
  struct Counts {
    std::uint64_t commands = 0;      // said to the daemon
    std::uint64_t acknowledged = 0;  // up to this command, the daemon has them in its journal
    std::uint64_t answers = 0;       // received from the daemon, and acted upon
    bool operator==(const Counts&) const = default;
  };
  // The conversation of an earlier manager of the experiment, as stored.
  struct Left {
    Counts counts;
    // The commands above `acknowledged`, with their numbers: in order, without a gap.
    std::vector<std::pair<std::uint64_t, Frame>> commands;
  };

  virtual ~Outbox() = default;

  // Each of these is stored by the next commit.
  virtual void append(std::uint64_t number, const Frame& command) = 0;
  virtual void drop(std::uint64_t first, std::uint64_t last) = 0;  // both included
  virtual void set_counts(const Counts& counts) = 0;
  virtual void forget() = 0;  // removes all commands and counts

  // Sets the function that each commit calls when it has succeeded, before it returns; null: none.
  virtual void on_commit(std::function<void()> committed) = 0;
};

}  // namespace attune
