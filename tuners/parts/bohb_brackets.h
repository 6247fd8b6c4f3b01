#pragma once
// The brackets of BOHB in NNI: successive halving with more and more aggressive numbers, one
// bracket after the other (Li et al., "Hyperband: A Novel Bandit-Based Approach to Hyperparameter
// Optimization", JMLR 2018, algorithm 1). Bracket s has the rounds 0 to s. Brackets run from the
// largest s down to 0 and then begin again. A round begins when all trials of the one before have
// ended, and a bracket when the one before is over.
//
// Trials without a value (they failed, or diverged) rank last, and are never promoted: a round then
// has fewer trials than planned. If nobody has a value, the bracket is over.
//
// Private to BOHB.
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "space/space.h"

namespace attune {

// 1 <= least <= most, eta >= 2; whole numbers.
struct BohbBudgets {
  double least = 1, most = 3, eta = 3;
};

// The first and largest s: floor(log_eta(most / least)), with NNI's tolerance of 1e-6, as below.
int bohb_first_bracket(const BohbBudgets& budgets);

// What is planned for round i of bracket s: ceil((s_max + 1) / (s + 1) eta^s) new trials in round
// 0, of which a part of eta^-i is left in round i, each with the budget floor(most eta^(i - s)).
struct BohbRound {
  std::size_t trials = 0;
  double budget = 0;
  bool operator==(const BohbRound&) const = default;
};
BohbRound bohb_round(const BohbBudgets& budgets, int s, int i);

// The bracket that runs, and its round. Not thread safe.
class BohbBrackets {
 public:
  struct Member {
    Point point;
    bool running = true;
    bool full = false;  // it has used its budget: if it is stopped now, it has completed
    // What Objectives returns: of the result, or of the last report. Empty: none.
    std::vector<double> values = {};
  };
  struct Promotion {
    TrialId from = 0;  // the trial of the round before
    Point point;
    std::string why;  // for a human: where it stands in that round
  };
  // Values of a member in words.
  using Describe = std::function<std::string(std::span<const double>)>;

  // Results have `objectives` numbers to minimise and then `limits` excesses.
  BohbBrackets(const BohbBudgets& budgets, std::size_t objectives, std::size_t limits);

  int bracket() const { return s_; }
  int round() const { return round_; }
  double budget() const { return bohb_round(budgets_, s_, round_).budget; }  // of the round

  // What the round still has to start: new configurations, or those that were promoted.
  std::size_t fresh() const { return fresh_; }
  std::optional<Promotion> take_promoted();  // the best one first
  void no_more_fresh() { fresh_ = 0; }       // the space is exhausted

  void start_fresh(TrialId trial, const Point& point);  // fresh() > 0
  void start_promoted(TrialId trial, const Point& point);
  void withdraw(TrialId trial);  // it never ran; in round 0 another new one takes its place

  // The member that runs under this id; null: no trial of this round, or it has ended.
  Member* running(TrialId trial);
  void end(TrialId trial, std::vector<double> values);  // it must run
  // The end of this member was a mistake: it runs on. Ignored for others.
  void revive(TrialId trial);

  bool anybody_runs() const { return running_ > 0; }
  bool is_empty() const { return members_.empty() && round_ == 0; }
  // To the next round, or to the next bracket. Nobody runs, and nothing is left to start. Returns
  // the trials of this round that do not go on.
  std::set<TrialId> advance(const Describe& describe);

  json save() const;
  Result<void> load(const Space& space, const json& state);  // all or nothing

 private:
  void begin(int s);

  BohbBudgets budgets_;
  std::size_t objectives_, limits_;
  int s_ = 0, round_ = 0;
  std::size_t fresh_ = 0;
  std::deque<Promotion> promoted_;
  std::map<TrialId, Member> members_;  // of this round, those that were started
  std::size_t running_ = 0;            // of members_
};

}  // namespace attune
