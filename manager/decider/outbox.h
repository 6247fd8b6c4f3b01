#pragma once
// Where the conversation with the daemon is kept, so that neither side has to guess what the other
// one has heard (docs/protocol.md, "Exactly once").
//
// What is said here belongs to the state change that it comes with: both are kept by the same
// commit, or neither is. Nothing is sent before that.
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "protocol/frame.h"

namespace attune {

class Outbox {
 public:
  // Both sides count from 1, over all lives of the experiment; 0: nothing yet.
  struct Counts {
    std::uint64_t commands = 0;      // said to the daemon
    std::uint64_t acknowledged = 0;  // of them, those that the daemon will not forget
    std::uint64_t answers = 0;       // heard from it, and acted upon
    bool operator==(const Counts&) const = default;
  };
  // What an earlier manager of the experiment has left.
  struct Left {
    Counts counts;
    // Commands that the daemon may have to hear again: in order, without a gap, up to the last.
    std::vector<std::pair<std::uint64_t, Frame>> commands;
  };

  virtual ~Outbox() = default;

  virtual void append(std::uint64_t number, const Frame& command) = 0;
  virtual void drop(std::uint64_t first, std::uint64_t last) = 0;
  virtual void set_counts(const Counts& counts) = 0;
  virtual void forget() = 0;  // all commands and counts

  // `committed` is called after each commit, from inside it; null: nobody any more.
  virtual void on_commit(std::function<void()> committed) = 0;
};

}  // namespace attune
