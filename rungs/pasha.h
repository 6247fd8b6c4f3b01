#pragma once
// PASHA: successive halving whose highest rung rises only while it is needed. It compares how two
// neighbouring rungs rank the trials that have reached both. If they agree up to the noise, more
// resource would change nothing. If not, trials may go one rung higher.
//
// With several objectives each one ranks the trials by itself, with its own noise. If none of these
// rankings differs between the two rungs, then neither does which trial dominates which.
//
// Source: Bohdal et al., "PASHA: Efficient HPO and NAS with Progressive Resource Allocation" (ICLR
// 2023), section 4, with soft ranking, as in Syne Tune.
#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "rungs/pasha_noise.h"
#include "rungs/promotion.h"
#include "rungs/promotion_order.h"

namespace attune {

// The ranks of the trials at two rungs.
class PashaRanking {
 public:
  // A trial that has reached both, with its losses there. Of trials with an equal loss at the upper
  // rung those with the lower `order` come first.
  void insert(double upper, std::uint64_t order, double lower);
  // Whether the trial of each rank at the upper rung could have that rank at the lower one, too:
  // there its loss is within epsilon of the loss that has this rank. It looks only at ranks where
  // that may have changed since the last call. Once false, it need not be asked again.
  bool stable(double epsilon);

 private:
  struct Ranked {
    double loss = 0;
    std::uint64_t order = 0;
    double lower = 0;

    friend bool operator<(const Ranked& a, const Ranked& b) {
      return a.loss != b.loss ? a.loss < b.loss : a.order < b.order;
    }
  };
  PromotionOrder<Ranked> upper_, lower_;
  std::size_t first_ = 0, end_ = 0;                           // the ranks that may have changed
  double epsilon_ = std::numeric_limits<double>::infinity();  // of the last call
};

// Not thread safe.
class Pasha {
 public:
  // `rungs` has the rungs of the rule, and no trial yet. With fewer than two of them there is
  // nothing to compare, and the limit is max_t from the start.
  explicit Pasha(const PromotionRungs& rungs, std::size_t objectives = 1);

  // Rungs below it may promote.
  std::int64_t limit() const { return limit_; }
  std::size_t top() const { return top_; }  // the upper one of the two rungs that are compared
  double epsilon(std::size_t objective = 0) const { return rankings_[objective].noise.epsilon(); }

  // A trial that runs has reported; its losses, one for each objective, are finite.
  void report(TrialId trial, double resource, std::span<const double> losses);
  // The trial has entered the rung.
  void enter(const PromotionRungs& rungs, std::size_t rung, TrialId trial);
  // To be called after each report and each entry; returns whether the limit has risen.
  bool grow(const PromotionRungs& rungs);
  void end(TrialId trial);  // it will neither report nor be promoted

  json save() const;
  // All or nothing. `rungs` are loaded before.
  Result<void> load(const json& state, const PromotionRungs& rungs);

 private:
  // Of one objective.
  struct Ranking {
    PashaRanking ranking;
    PashaNoise noise;
  };

  void place(const PromotionRungs& rungs, std::size_t top, bool is_last);
  bool stable();

  std::size_t top_ = 0;
  std::int64_t limit_ = 0;
  bool is_last_ = false;  // the limit is max_t
  std::vector<Ranking> rankings_;
};

}  // namespace attune
