#pragma once
// MOASHA: asynchronous successive halving for several objectives, as in Syne Tune. Milestones and
// brackets are those of AsyncHyperBand.
//
// Schmucker, Donini, Zafar, Salinas, Archambeau, "Multi-objective Asynchronous Successive Halving"
// (2021), algorithm 1.
#include "rungs/stopping_ray.h"

namespace attune {

// How many of the rows are better than the last one. See rungs/priorities.h.
using RankOfLast = std::size_t (*)(std::span<const double> rows, std::size_t objectives);

// The trial is stopped at a rung if more than 1 / reduction_factor of the results there are better.
// The new one counts among the results; the first one always goes on.
//
// Results are ranked by priorities of the objectives that have no limit. A result that breaks
// limits ranks behind all that keep them, by violation() of base/standing.h. One with a number that
// is not finite ranks last.
//
// A rung remembers its newest kCompared results. Each new result changes the order of all others,
// so that nothing can be kept sorted. With two objectives the place among 10^5 results takes 12 ms,
// which would be half an hour for 10^5 trials; that among 1,000 takes 0.07 ms, or 1.8 ms if all are
// one front (measured, -O3). A share of a third among 1,000 has a standard error of 1.5 points.
//
// Cost of a report that fills a rung: the place among at most kCompared + 1 rows; see there. Of
// any other report: O(number of rungs).
class MoashaRule final : public StoppingRule {
 public:
  static constexpr std::size_t kCompared = 1000;

  // The first of `objectives` has no limit.
  MoashaRule(const MilestoneOptions& options, std::vector<Objective> objectives, RankOfLast rank);

  std::span<const double> brackets() const override { return milestones_.brackets(); }
  Decision judge(TrialId trial, RungVisitor& visitor, double resource,
                 std::span<const double> losses) override;
  json save() const override;
  Result<std::unique_ptr<StoppingRule>> loaded(const json& state) const override;
  bool possible(const RungVisitor& visitor) const override { return milestones_.possible(visitor); }

 private:
  // The oldest first.
  struct Rung {
    std::vector<double> rows;        // of the objectives without a limit
    std::vector<double> violations;  // one for each row
  };

  std::size_t better_than(const Rung& rung, std::span<const double> row, double violation) const;
  std::string reason(double level, std::span<const double> row, double violation, std::size_t rank,
                     std::size_t of) const;

  Milestones milestones_;
  std::vector<Objective> objectives_;
  RankOfLast rank_;
  std::size_t width_;  // of a row
  std::vector<Rung> rungs_;
};

}  // namespace attune
