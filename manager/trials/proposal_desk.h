#pragma once
// The runner's requests for proposals, and how the tuner answers them.
#include <deque>
#include <optional>

#include "manager/trials/runner_state.h"

namespace attune {

class ProposalDesk {
 public:
  // So many new trials may the tuner offer in a row where only paused ones may go on. One that
  // offers more has no use for the paused ones, and the experiment would never end.
  static constexpr int kMostDeclined = 1000;

  // `patience_seconds`: how long a proposal is waited for when nothing else is left to do.
  explicit ProposalDesk(double patience_seconds) : patience_seconds_(patience_seconds) {}

  void asked(int count) { requests_.push_back(count); }
  void proposed();                   // one proposal of the oldest request has come
  void exhausted();                  // the oldest request gets no more
  void declined();                   // a new trial was offered where only paused ones may go on
  void resumed() { declined_ = 0; }  // a paused trial was

  bool open() const { return !requests_.empty(); }
  int unanswered() const;  // proposals that open requests still lack

  // The tuner's last answer was "no more", and nothing has happened since that may change it.
  bool is_exhausted() const { return exhausted_; }
  void may_have_more() { exhausted_ = false; }

  // The tuner says that it cannot answer for now, or answers after all. Whether that is news.
  bool postpone();
  bool proposes_again();

  // `nothing_runs`: only a proposal is left to wait for, at `now` in Clock::now() seconds.
  void wait(bool nothing_runs, double now);
  // When the tuner will have kept silent for too long; nothing: it is not waited for.
  std::optional<double> deadline() const;
  double patience_seconds() const { return patience_seconds_; }

  void forget();  // the tuner has lost its memory, and open requests with it
  void restore(const RunnerState& state);
  void save(RunnerState& state) const;

 private:
  double patience_seconds_;
  std::deque<int> requests_;  // proposals that each request still lacks, the oldest first
  std::optional<double> waiting_since_;
  bool exhausted_ = false;
  bool postponed_ = false;
  int declined_ = 0;  // in a row
};

}  // namespace attune
