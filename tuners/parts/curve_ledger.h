#pragma once
// What FreezeThaw knows of its trials: CurveTrials and a CurveModel of the same configurations. It
// pauses trials at the levels of training, and stops those that are through or hopeless.
//
// A paused trial goes on under its own id. A program that reads TRIAL_BUDGET ends by itself
// instead: then a new trial starts from its checkpoint. One that could not be paused runs on, and
// is asked again at the next level. A trial that reports seldom has at a level what it reported
// next. One that breaks a limit is stopped at a level where another one keeps all: what it had
// there counts, and it costs nothing more.
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "space/features.h"
#include "tuners/parts/curve_levels.h"
#include "tuners/parts/curve_metrics.h"
#include "tuners/parts/curve_model.h"
#include "tuners/parts/curve_trials.h"
#include "tuners/tuner.h"

namespace attune {

// A value. Not thread safe.
class CurveLedger {
 public:
  // With twice as many waiting trials, the worse half is given up: each holds a checkpoint.
  static constexpr std::size_t kMostWaiting = 64;

  enum class Begin { pausing, watching };  // watching: until begin_pauses()
  CurveLedger(CurveMetrics metrics, CurveLevels levels, const Space& space,
              Begin begin = Begin::pausing);
  // For another search space: no trial, the same levels, and as many that began.
  CurveLedger renewed(const Space& space) const;

  const CurveLevels& levels() const { return levels_; }
  const Features& features() const { return features_; }
  const CurveTrials& trials() const { return trials_; }
  const CurveModel& model() const { return model_; }
  CurveModel& model() { return model_; }
  std::size_t proposed() const { return proposed_; }  // new configurations
  std::size_t begun() const { return begun_; }        // trials that were proposed

  // Whether trials are paused and stopped. If not, their losses are only noted.
  bool pauses() const { return pauses_; }
  // From now on they are. For this a checkpoint of `probed` was saved, which nothing else needs.
  void begin_pauses(TrialId probed);

  Proposal start(TrialId id, const Point& point, std::size_t until);
  // The configuration, which must wait, goes on to its next level. `why`: for a human, beside its
  // last result.
  Proposal go_on(TrialId id, std::size_t number, const std::string& why);
  // Somebody else's trial runs: to its own end, but not beyond a full training.
  void adopt(TrialId id, const Point& point) { add(point, id, Curve::kToItsEnd); }
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
  std::optional<double> budget_of(std::size_t until) const;
  double pause_of(const Curve& curve) const;
  void change_levels(std::optional<std::size_t> kept);
  void tell_learnt(std::size_t number, const Outcome& outcome);
  void learn(const Outcome& outcome);
  void fail_at_next(std::size_t number);
  void finish(std::size_t number, Checkpoint checkpoint);
  void release_origin(std::size_t number);
  std::vector<Decision> judge(const Report& report);
  std::vector<Decision> give_up();
  std::vector<Decision> stop_hopeless();
  Decision stop_at_limit(std::size_t number);
  std::vector<std::size_t> waiting_by_end() const;
  std::string end_text(std::size_t number) const;
  std::string of_end() const;
  std::string at(double resource) const;

  CurveMetrics metrics_;
  CurveLevels levels_;
  Features features_;
  CurveModel model_;
  CurveTrials trials_;
  std::set<TrialId> unneeded_;  // their checkpoints are dropped with the next report
  std::size_t proposed_ = 0, begun_ = 0;
  bool pauses_;
};

}  // namespace attune
