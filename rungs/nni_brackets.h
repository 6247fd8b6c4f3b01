#pragma once
// Hyperband as NNI's advisor runs it: rounds of new trials, without pauses. A round ends when all
// its trials have ended. Then the best of them get new trials with a larger budget. Brackets follow
// each other for ever, from the one with the most trials to the one with the largest budget.
//
// Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar, "Hyperband: A Novel Bandit-Based Approach to
// Hyperparameter Optimization" (JMLR 2018), algorithm 1.
//
// NNI stops with an error when too few trials of a round have a result. Here the next round becomes
// smaller, and a bracket without any result is over.
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"

namespace attune {

class NniBrackets {
 public:
  // `most`: the budget of the last round (R), at least 1. `factor`: eta, at least 2. serial: a
  // bracket starts when the one before has started its last round.
  NniBrackets(std::int64_t most, std::int64_t factor, bool serial);

  struct Job {
    std::int64_t bracket = 0;
    double budget = 0;
    std::optional<TrialId> from =
        {};  // the trial of the round before; nothing: a new configuration
  };
  // may_open: a new bracket may start.
  std::optional<Job> take(bool may_open);
  // Each job must come back: begin() or give_back().
  void begin(TrialId trial, const Job& job);
  void give_back(const Job& job);  // it is the next to be taken

  // How a round has ended.
  struct Round {
    double budget = 0;
    std::size_t results = 0;
    std::vector<TrialId> best = {};  // they go on, the best first
    std::vector<TrialId> rest = {};
  };
  // The loss of a trial so far; NaN: none. The last one before end() counts. Of equal losses the
  // trial is ranked first that had its first one earlier.
  void value(TrialId trial, double loss);
  std::optional<Round> end(TrialId trial);  // the trial is over, in whatever way
  // The trial has not begun after all. Its job is the next to be taken.
  void take_back(TrialId trial);
  // There are no new configurations any more.
  std::vector<Round> vacate();

  bool runs(TrialId trial) const { return running_.contains(trial); }
  bool in_last_round(TrialId trial) const;  // of one that runs
  std::size_t running() const { return running_.size(); }
  // The trials that have ended with a loss and are not out yet: their round is under way, or they
  // wait to go on.
  std::vector<TrialId> ended() const;

  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  struct Bracket {
    std::size_t round = 0;
    std::size_t trials = 0;  // of this round
    std::size_t ended = 0;   // of them
    // With a loss, in the order of their first ones; NaN: it has none after all.
    std::vector<std::pair<TrialId, double>> results = {};
  };
  // Jobs that are ready, in order.
  struct Ready {
    std::int64_t bracket = 0;
    std::size_t fresh = 0;  // so many new configurations
    std::optional<TrialId> from = {};
  };
  struct Running {
    std::int64_t bracket = 0;
    std::optional<std::size_t> result = {};  // its index in the results
    std::optional<TrialId> from = {};
  };

  std::size_t last_round(std::int64_t bracket) const;
  std::size_t trials(std::int64_t bracket, std::size_t round) const;
  double budget(std::int64_t bracket, std::size_t round) const;
  std::optional<Round> close_if_ended(std::int64_t bracket);
  Result<void> load_brackets(const json& state);
  Result<void> load_ready(const json& state);
  Result<void> load_running(const json& state);

  double most_, factor_;
  bool serial_;
  std::size_t s_max_ = 0;
  std::int64_t next_ = 0;                     // bracket
  std::map<std::int64_t, Bracket> brackets_;  // that are not over
  std::deque<Ready> ready_;
  std::map<TrialId, Running> running_;
};

}  // namespace attune
