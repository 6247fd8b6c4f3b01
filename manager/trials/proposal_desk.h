#pragma once
// Keeps count of the runner's open requests for proposals, and notes when the tuner has no more
// proposals, cannot answer for now, or keeps silent for too long. Calls nobody.
#include <deque>
#include <optional>

#include "manager/trials/runner_state.h"

namespace attune {

class ProposalDesk {
 public:
  // Once the last new trial was added, only paused trials may go on, and the runner declines new
  // ones. A tuner that offers so many new ones in a row will not resume the paused ones: it counts
  // as exhausted then, since otherwise the experiment would never end.
  static constexpr int kMostDeclined = 1000;

  // `patience_seconds`: how long a proposal is waited for when nothing else is left to do.
  explicit ProposalDesk(double patience_seconds) : patience_seconds_(patience_seconds) {}

  void asked(int count) { requests_.push_back(count); }
  void proposed();                   // one proposal came, an answer to the oldest request
  void exhausted();                  // the oldest request gets no more proposals
  void declined();                   // the runner declined a new trial: see kMostDeclined
  void resumed() { declined_ = 0; }  // the tuner let a paused trial go on

  bool open() const { return !requests_.empty(); }
  int unanswered() const;  // proposals that open requests still lack

  // The tuner's last answer was "no more", and nothing has happened since that may change it.
  bool is_exhausted() const { return exhausted_; }
  void may_have_more() { exhausted_ = false; }

  // The tuner cannot answer for now; the tuner answers after all. Both return whether that is a
  // change, so that the user is told once.
  bool postpone();
  bool proposes_again();

  // Starts or stops the count of `patience_seconds`. `nothing_runs`: nothing but a proposal can
  // move the experiment on. `now` is Clock::now().
  void wait(bool nothing_runs, double now);
  // When `patience_seconds` are over, as Clock::now(). Nothing: wait() does not count.
  std::optional<double> deadline() const;
  double patience_seconds() const { return patience_seconds_; }

  void forget();  // the tuner lost its memory, and all open requests
  void restore(const RunnerState& state);
  void save(RunnerState& state) const;

 private:
  double patience_seconds_;
  std::deque<int> requests_;  // proposals that each request still lacks, the oldest first
  std::optional<double> waiting_since_;  // Clock::now() of the wait() that began to count
  bool exhausted_ = false;
  bool postponed_ = false;
  int declined_ = 0;  // in a row
};

}  // namespace attune
