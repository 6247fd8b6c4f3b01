#pragma once
// Runs Study::optimize: as many slots as threads, each with one trial at a time. What a trial says
// (a report, its end) is an event. The slots take turns, 0, 1, ..., k-1, 0, ..., and say one event
// in each turn. A slot without a trial is passed over; a slot that has nothing to say yet is waited
// for. So the study gets the same events in the same order, however long anything takes. When a
// trial ends, its slot gets the next one within the same turn.
//
// There is no coordinating thread: a thread handles its own event when it is its turn. The function
// runs outside of the lock.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "os/clock.h"
#include "study/study_impl.h"

namespace attune {

class Optimizer {
 public:
  // All must outlive it. options.threads >= 1.
  Optimizer(Study::Impl& study, const TrialFunction& function, const OptimizeOptions& options);

  // Runs to the end; the calling thread is slot 0. Returns why it ended. Once.
  Result<std::string> run();

 private:
  friend class SlotReporter;
  struct Slot {
    std::optional<Suggestion> trial = {};
    std::condition_variable changed = {};  // its turn, a new trial, or the end
  };
  // How a call of the function ended.
  struct Ended {
    TrialState state = TrialState::completed;
    json value = {};
    std::string reason = {};
  };
  using Lock = std::unique_lock<std::mutex>;

  void prepare();
  void give_up_from(std::size_t first, const std::string& why);  // these slots have no thread
  void work(std::size_t slot);
  Ended call(std::size_t slot, const Suggestion& trial);
  Verdict report(std::size_t slot, TrialId id, std::int64_t step, const json& value);
  void await_turn(Lock& lock, std::size_t slot);
  void pass_turn(std::size_t from);
  void finish(std::size_t slot, const Suggestion& trial, const Ended& ended);
  void fill(std::size_t from);
  std::optional<Suggestion> next_trial(std::size_t slot);
  void no_new_trials(std::string reason);
  void end_with(Error error);  // no new trials; run() returns the first such error
  int event_slot(std::size_t slot) const;

  Study::Impl& study_;
  const TrialFunction& function_;
  const OptimizeOptions& options_;
  const SystemClock clock_;
  const double started_;

  std::mutex mutex_;  // protects all that follows; taken before the study's mutex
  std::vector<Slot> slots_;
  std::deque<std::pair<Suggestion, int>> left_over_;  // with their slots; run before new ones
  std::size_t turn_ = 0;
  std::size_t busy_ = 0;    // slots with a trial
  std::string end_reason_;  // not empty: no new trials
  std::optional<Error> error_;
};

}  // namespace attune
