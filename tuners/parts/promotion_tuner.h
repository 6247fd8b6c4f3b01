#pragma once
// Asynchronous successive halving of the promotion type as a tuner: ASHA and PASHA. The rule is
// PromotionRungs and Pasha (rungs/); this class connects it with trials that run, and a Searcher
// proposes new configurations.
//
// A trial runs to its milestone, the level of the next rung, and is paused there. Its budget is
// that level: where no manager can pause it, a trial that reads TRIAL_BUDGET ends there by itself.
//
// What becomes of the trials that do not do so:
//  * A report beyond the milestone counts at the milestone: the trial reports only now and then, or
//    the report is late. Reports with NaN or without the metric do not count; at the milestone NaN
//    stops the trial.
//  * A trial that could not be paused runs on. Its report at the next level counts there, as if it
//    had been promoted.
//  * A trial that completes at its milestone, or after the pause was decided, cannot be resumed. A
//    new trial with the same configuration takes its place when it is promoted, from its
//    checkpoint.
//  * A trial that completes earlier had no more to do. Its loss counts at the rung, and it is not
//    promoted.
//  * A trial that fails, is stopped or diverges counts as the worst of its rung, and is not
//    promoted. If it ends so while it is paused, its loss counts on, but it is not promoted.
//
// When no new configuration can begin, because the searcher has no more or the experiment has had
// its trials (maxTrialNumber), the promotions go on. If none is left, and no trial has a result
// yet, the best trial of the highest rung goes on to max_t: otherwise the experiment had none.
//
// Results from elsewhere (imports, and results from before a change of the space) are told to the
// searcher at the level of their budget (for imports the parameter TRIAL_BUDGET), or at max_t. If
// the budget is the level of a rung, they also take a place in that rung, and may be promoted: a
// new trial then continues the search where an earlier experiment ended. Of results of one
// configuration only the highest level waits.
//
// Several objectives rank the trials of a rung by trade-offs (rungs/promotion.h). A report, or a
// result, without one of them is one without the metric.
//
// Trials that break a limit come after all that keep them. Where one keeps all limits, a trial that
// arrives and breaks one is stopped. A limit counts only in reports that have its metric.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rungs/pasha.h"
#include "rungs/promotion.h"
#include "rungs/promotion_cost.h"
#include "rungs/trial_quota.h"
#include "tuners/parts/searcher.h"
#include "tuners/tuner.h"

namespace attune {

class PromotionTuner final : public Tuner {
 public:
  struct Options {
    std::string resource = {};  // the metric that tells how far a trial is
    PromotionRungs::Options rungs = {};
    std::size_t brackets = 1;
    std::string cost = {};        // the metric of Rule::cost
    std::int64_t candidates = 0;  // the first trials, for Rule::rush
    bool grows = false;           // PASHA
  };
  PromotionTuner(Options options, Searcher searcher, const Context& context, Rng rng);

  Result<void> set_space(const Space& space) override;
  bool set_priors(const Space& space) override { return searcher_.set_priors(space); }
  std::vector<Answer> ask(std::span<const TrialId> ids) override;
  bool begin_with(const Point& point) override {
    searcher_.begin_with(point);
    return true;
  }
  void withdraw(TrialId id) override;
  void tell(std::span<const Outcome> outcomes) override;
  void adopt(TrialId id, const Point& point) override;
  Result<Point> point_from(const Space& space, const json& parameters) const override;
  std::vector<Decision> on_report(const Report& report) override;
  bool pauses_at_budget() const override { return true; }
  void skip_ahead() override;
  std::string take_notes() override { return searcher_.take_notes(); }
  void replay_notes(const std::string& notes) override { searcher_.replay_notes(notes); }
  void end_replay() override { searcher_.end_replay(); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  static constexpr const char* kBudget = "TRIAL_BUDGET";  // as the session writes a budget

  enum class State { runs, waits, over };
  // A configuration on its way through the rungs. It has the id of its first trial. If that one
  // cannot be resumed, other trials follow it.
  struct Arm {
    TrialId trial = 0;     // that runs, or ran last
    std::size_t rung = 0;  // its milestone, or where it waits; rungs_.size(): max_t
    State state = State::runs;
    bool ended = false;      // waits, but its trial has completed
    bool proposed = false;   // with a budget: without a report, it ends at its milestone
    bool candidate = false;  // for Rule::rush
    double from = 0;         // the level it was promoted from; reports up to it are repetitions
    double at = 0;           // waits: the resource of the report that counted
    double last = 0;         // resource of its last report
    double step = 0;         // the difference to the report before
    double cost = 0;         // its last reported cost, in the present run
    PromotionCost spent = {};
  };
  using Arms = std::map<TrialId, Arm>;
  // A configuration from elsewhere that has reached a rung, or max_t.
  struct Foreign {
    Point point;
    std::size_t rung = 0;               // the highest
    std::optional<TrialId> trial = {};  // which may have a checkpoint
  };
  // What a report or a final result says.
  struct Measured {
    double resource = 0, cost = 0;
    std::optional<RungValue> value = {};  // nothing: the loss is not finite
    std::vector<double> values = {};      // of several objectives
    const Metrics& metrics;
  };

  // promotion_tuner.cpp
  Answer ask(TrialId id);
  Answer begin(TrialId id, std::size_t bracket);
  Proposal promote(TrialId id, const PromotionRungs::Promotion& promotion, std::size_t to);
  std::size_t draw_bracket();
  std::int64_t limit() const { return pasha_ ? pasha_->limit() : options_.rungs.max_t; }
  Arm& start(TrialId id, std::size_t rung, bool proposed);
  void move(Arm& arm, std::size_t rung, State state);
  void remove(Arms::iterator arm);
  void count(const Arm& arm, int by);
  Arms::iterator arm_of(TrialId trial);

  // promotion_reports.cpp
  std::optional<Measured> measure(const Report& report) const;
  std::optional<double> cost_in(const Metrics& metrics) const;
  RungValue value_of(double loss, const Metrics& metrics) const;
  bool several() const { return options_.rungs.objectives > 1; }
  std::optional<std::vector<double>> values_in(const Metrics& metrics) const;
  std::vector<Decision> judge(Arms::iterator arm, const Measured& now);
  void enter(TrialId id, Arm& arm, const Measured& now, bool waits);
  std::string reason(TrialId id, const Arm& arm, const Measured& now) const;
  std::string shown(const RungValue& value, const std::vector<double>& values) const;
  std::string reason(const PromotionRungs::Promotion& promotion, std::size_t to) const;
  void completed(Arms::iterator arm, const Outcome& outcome);
  void lose(TrialId id, Arm& arm);
  void grow();
  void import(const Outcome& outcome);
  std::size_t rung_at(double level) const;
  static std::vector<double> key_of(const Point& point);

  // promotion_state.cpp
  json save_arms() const;
  json save_foreign() const;
  static Result<Arms> load_arms(const json& state, std::size_t rungs);
  static Result<void> load_foreign(const json& state, const Space& space, std::size_t rungs,
                                   std::map<TrialId, Foreign>& foreign);

  const Options options_;
  const Objective objective_;                // the first
  const std::vector<Objective> objectives_;  // all without a limit
  const std::vector<Objective> limits_;
  const std::vector<double> probabilities_;  // of the brackets
  Rng rng_;
  Searcher searcher_;
  PromotionRungs rungs_;
  std::optional<Pasha> pasha_;
  Arms arms_;                                          // not told yet, or waiting
  std::map<TrialId, TrialId> successors_;              // a trial that follows another -> its arm
  std::map<TrialId, Foreign> foreign_;                 // keys as in rungs_, below kImportedTrial
  std::map<std::vector<double>, TrialId> foreign_of_;  // values of a point -> its key
  TrialId next_foreign_ = kImportedTrial - 1;
  std::size_t running_ = 0;   // arms
  std::size_t climbing_ = 0;  // of these, those on the way to a rung
  TrialQuota quota_;
  bool has_result_ = false;      // of a trial that has completed
  std::int64_t candidates_ = 0;  // trials that are candidates
  bool exhausted_ = false;       // said once, it holds for ever
};

}  // namespace attune
