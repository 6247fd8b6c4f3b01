#pragma once
#include <vector>

#include "manager/trials/trial_observer.h"

namespace attune {

// Passes everything on to several observers, in their order. What one cannot keep ends the
// experiment, after the others have heard of it too.
class ObserverList final : public TrialObserver {
 public:
  explicit ObserverList(std::vector<TrialObserver*> observers) : observers_(std::move(observers)) {}

  void on_trial_added(const TrialRecord& t) override {
    for (auto* o : observers_) o->on_trial_added(t);
  }
  Result<Kept> on_attempt(const TrialRecord& t, const std::string& from) override {
    return each([&](TrialObserver& o) { return o.on_attempt(t, from); });
  }
  void on_report(const TrialRecord& t, const TrialReport& r, const Verdict& verdict) override {
    for (auto* o : observers_) o->on_report(t, r, verdict);
  }
  void on_attempt_end(const TrialRecord& t, const TrialFinished& end) override {
    for (auto* o : observers_) o->on_attempt_end(t, end);
  }
  void on_decision(const DecisionRecord& decision) override {
    for (auto* o : observers_) o->on_decision(decision);
  }
  void on_place(const TrialRecord& t, const TrialPlace& place, double since) override {
    for (auto* o : observers_) o->on_place(t, place, since);
  }
  void on_parameter(const TrialRecord& t, std::int64_t index, const ProposedTrial& p) override {
    for (auto* o : observers_) o->on_parameter(t, index, p);
  }
  void on_checkpoint(const CheckpointStored& saved) override {
    for (auto* o : observers_) o->on_checkpoint(saved);
  }
  void on_checkpoint_dropped(const std::string& checkpoint) override {
    for (auto* o : observers_) o->on_checkpoint_dropped(checkpoint);
  }
  void on_trial_changed(const TrialRecord& t) override {
    for (auto* o : observers_) o->on_trial_changed(t);
  }
  void on_tally(const Tally& tally) override {
    for (auto* o : observers_) o->on_tally(tally);
  }
  void on_state(const RunnerState& state) override {
    for (auto* o : observers_) o->on_state(state);
  }
  void on_event(const RunnerEvent& event) override {
    for (auto* o : observers_) o->on_event(event);
  }
  void on_postponed(const std::string& reason) override {
    for (auto* o : observers_) o->on_postponed(reason);
  }
  Result<Kept> on_idle() override {
    return each([](TrialObserver& o) { return o.on_idle(); });
  }
  void on_done(const ExperimentEnd& outcome) override {
    for (auto* o : observers_) o->on_done(outcome);
  }

 private:
  template <class Call>
  Result<Kept> each(Call&& call) {
    Result<Kept> worst = Kept{};
    for (auto* o : observers_) {
      auto kept = call(*o);
      if (kept && worst && kept->notice.empty()) kept->notice = worst->notice;
      if (worst && (!kept || worst->trouble.empty())) worst = std::move(kept);
    }
    return worst;
  }

  std::vector<TrialObserver*> observers_;
};

}  // namespace attune
