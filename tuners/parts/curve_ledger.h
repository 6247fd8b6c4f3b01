#pragma once
// What FreezeThaw knows of its trials: CurveTrials and a CurveModel of the same configurations. It
// pauses trials at the levels of training, and stops those that are through or hopeless.
//
// A paused trial goes on under its own id. A program that reads TRIAL_BUDGET ends by itself
// instead: then a new trial starts from its checkpoint. One that could not be paused runs on, and
// is asked again at the next level. A trial that reports seldom has at a level what it reported
// next.
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "space/features.h"
#include "tuners/parts/curve_model.h"
#include "tuners/parts/curve_trials.h"
#include "tuners/tuner.h"

namespace attune {

// A value. Not thread safe.
class CurveLedger {
 public:
  // With twice as many waiting trials, the worse half is given up: each holds a checkpoint.
  static constexpr std::size_t kMostWaiting = 64;

  struct Rule {
    std::string attribute;  // the metric that counts how far a trial is
    Objective objective;
    std::vector<double> levels;  // resources, ascending; the last one is a full training
  };
  // `begun`: trials that began before.
  CurveLedger(Rule rule, const Space& space, std::size_t begun = 0);

  const Rule& rule() const { return rule_; }
  const std::vector<double>& levels() const { return rule_.levels; }
  std::size_t last() const { return levels().size() - 1; }
  // The first level above a resource; the last one if there is none.
  std::size_t level_after(double resource) const;
  const Features& features() const { return features_; }
  const CurveTrials& trials() const { return trials_; }
  const CurveModel& model() const { return model_; }
  CurveModel& model() { return model_; }
  std::size_t proposed() const { return proposed_; }  // new configurations
  std::size_t begun() const { return begun_; }        // trials that were proposed

  Proposal start(TrialId id, const Point& point, std::size_t until);
  // The configuration, which must wait, goes on to its next level.
  Proposal go_on(TrialId id, std::size_t number);
  // Somebody else's trial runs: to its own end, but not beyond a full training.
  void adopt(TrialId id, const Point& point) { add(point, id, last()); }
  // No such trial runs: its proposal was not carried out. It may be unknown.
  void withdraw(TrialId id);
  void tell(const Outcome& outcome);
  std::vector<Decision> report(const Report& report);

  json save() const;
  // Into a ledger that was made with the same arguments. On an error nothing changes.
  Result<void> load(const Space& space, const json& state);

 private:
  enum class Checkpoint { kept, dropped };

  std::size_t add(const Point& point, TrialId trial, std::size_t until,
                  Curve::State state = Curve::State::running);
  std::size_t levels_within(double resource) const;
  void learn(const Outcome& outcome);
  void fail_at_next(std::size_t number);
  void finish(std::size_t number, Checkpoint checkpoint);
  void release_origin(std::size_t number);
  std::vector<Decision> judge(const Report& report);
  std::vector<Decision> give_up();

  Rule rule_;
  Features features_;
  CurveModel model_;
  CurveTrials trials_;
  std::set<TrialId> unneeded_;  // their checkpoints are dropped with the next report
  std::size_t proposed_ = 0, begun_ = 0;
};

}  // namespace attune
