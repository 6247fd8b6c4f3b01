#pragma once
// The tuner FreezeThaw (tuners/freeze_thaw.cpp says how it works). `auto` has it look on until
// trials have shown that they can be paused.
#include <memory>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "space/dedup.h"
#include "tuners/parts/curve_choice.h"
#include "tuners/parts/curve_ledger.h"
#include "tuners/tuner.h"

namespace attune {

class FreezeThaw final : public Tuner {
 public:
  // `ledger`: empty. `most_trials`: maxTrialNumber of the experiment.
  FreezeThaw(CurveLedger ledger, std::optional<int> most_trials, Rng rng)
      : most_trials_(most_trials), rng_(rng), ledger_(std::move(ledger)) {}

  Result<void> set_space(const Space& space) override {
    space_ = space;
    dedup_ = Deduplicator(space, Deduplicator::Remember::always);
    ledger_ = ledger_.renewed(space);
    all_tried_ = exhausted_ = false;
    wanted_.reset();
    return {};
  }

  bool wants_reports() const override { return true; }
  bool pauses_at_budget() const override { return true; }

  // Until begin_pauses() another tuner proposes; this one only notes what it hears of the trials.
  void take(TrialId id, const Point& point) {
    dedup_.add(point);
    ledger_.start(id, point, 0);
  }
  void begin_pauses(TrialId probed) { ledger_.begin_pauses(probed); }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) { return answer(id); });
  }
  bool begin_with(const Point& point) override {
    wanted_ = point;
    return true;
  }
  void withdraw(TrialId id) override { ledger_.withdraw(id); }
  void adopt(TrialId id, const Point& point) override {
    dedup_.add(point);
    ledger_.adopt(id, point);
  }
  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) {
      if (outcome.usable()) dedup_.add(outcome.point);
      ledger_.tell(outcome);
    }
  }
  std::vector<Decision> on_report(const Report& report) override { return ledger_.report(report); }

  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  const CurveModel& model() const { return ledger_.model(); }
  const CurveTrials& trials() const { return ledger_.trials(); }
  std::size_t design_size() const;
  bool all_begun() const {
    return most_trials_ && ledger_.begun() >= static_cast<std::size_t>(*most_trials_);
  }
  bool may_begin() const { return !all_tried_ && !all_begun(); }
  bool can_go_on(std::size_t number) const;

  Answer answer(TrialId id);
  std::optional<Proposal> start(TrialId id, const Point& point, std::size_t until);
  Answer wait();
  void await_running();
  std::vector<double> draw_weights();
  CurveEnds expected_ends() const;
  bool is_settled(const CurveEnds& ends) const;
  bool is_front_settled() const;
  std::optional<Point> new_point(const CurveEnds& ends);
  std::vector<CurveOption> options_of(const CurveEnds& ends) const;

  std::optional<int> most_trials_;
  Rng rng_;
  Space space_;
  Deduplicator dedup_{Space{}};
  CurveLedger ledger_;
  bool all_tried_ = false;       // no point of the space is left
  bool exhausted_ = false;       // so it was answered
  std::optional<Point> wanted_;  // to be tried first
};

}  // namespace attune
