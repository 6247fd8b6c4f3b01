#pragma once
// An outbox that a test commits by hand, and that remembers only what was committed.
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/check.h"
#include "manager/decider/outbox.h"

namespace attune {

class MemoryOutbox final : public Outbox {
 public:
  // Back to the last commit, as for a new manager.
  void roll_back() {
    commands_.clear();
    counts_.reset();
    if (!kept) return;
    counts_ = kept->counts;
    for (const auto& [number, command] : kept->commands) commands_.emplace(number, command);
  }

  void append(std::uint64_t number, const Frame& command) override {
    ATTUNE_CHECK(commands_.emplace(number, command).second);
    ++appended;
  }
  void drop(std::uint64_t first, std::uint64_t last) override {
    commands_.erase(commands_.lower_bound(first), commands_.upper_bound(last));
  }
  void set_counts(const Counts& counts) override { counts_ = counts; }
  void forget() override {
    commands_.clear();
    counts_.reset();
    ++forgotten;
  }
  void on_commit(std::function<void()> committed) override { committed_ = std::move(committed); }

  void commit() {
    kept.reset();
    if (counts_) kept = Left{*counts_, {commands_.begin(), commands_.end()}};
    if (committed_) committed_();
  }

  std::optional<Left> kept;  // as of the last commit
  int appended = 0, forgotten = 0;

 private:
  std::map<std::uint64_t, Frame> commands_;
  std::optional<Counts> counts_;
  std::function<void()> committed_;
};

}  // namespace attune
