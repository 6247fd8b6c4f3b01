#include "plugins/guarded_assessor.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/answers.h"
#include "plugins/assessor_events.h"
#include "plugins/notes.h"
#include "plugins/restartable.h"

namespace attune {
namespace {

Result<void> check_decision(TrialId trial, const Decision& decision) {
  if (decision.trial != trial) {
    return fail(fmt::format("a decision on trial {} instead of {}", decision.trial, trial));
  }
  const bool allowed = decision.action == Action::keep_going || decision.action == Action::stop ||
                       decision.action == Action::pause;
  if (!allowed) return fail("an assessor lets a trial go on, stops it or pauses it");
  if (decision.complete && decision.action != Action::stop) {
    return fail("a decision is complete, and no stop");
  }
  return check_reason(decision.reason);
}

class GuardedAssessor final : public Assessor, Restartable<PluginAssessor, AssessorEvents> {
 public:
  GuardedAssessor(std::unique_ptr<PluginAssessor> assessor, const PluginDescription& which,
                  const std::string& plugin, Log log)
      : Restartable(std::move(assessor), "plug-in " + plugin + ": assessor " + which.name,
                    which.saves, std::move(log)) {}

  Decision assess(TrialId trial, std::span<const Report> reports) override {
    notes_.next_call();
    Decision decision = twice("assess", [&]() -> Result<Decision> {
      auto answer = TRY(plugin_->assess(trial, reports));
      if (!notes_.replaying()) TRY(check_decision(trial, answer));
      return answer;
    });
    if (notes_.replaying()) decision = replayed(trial);
    keep_reports(trial, reports);
    happened(Assessed{trial, reports.size()});
    if (decision.action != Action::keep_going) notes_.add(std::span(&decision, 1));
    return decision;
  }

  void trial_end(TrialId trial, End end) override {
    twice("trial_end", [&] { return plugin_->trial_end(trial, end); });
    happened(Ended{trial, end});
  }

  json save() const override {
    save_plugin();
    return {{"calls", notes_.calls()},
            {"saved", !state_.is_null()},
            {"plugin", state_},
            {"events", save_events(events_)}};
  }

  Result<void> load(const json& state) override {
    const std::int64_t calls = TRY(integer_at(state, "calls"));
    if (calls < 0) return fail("saved state: \"calls\" is negative");
    AssessorEvents events = TRY(load_assessor_events(TRY(object_at(state, "events"))));
    TRY(load_plugin(state, std::move(events), notes_.replaying()));
    notes_.set_calls(static_cast<std::uint64_t>(calls));
    return {};
  }

  std::string take_notes() override { return notes_.take(); }
  void replay_notes(const std::string& notes) override { notes_.replay(notes); }
  void end_replay() override { notes_.end_replay(); }

 private:
  Decision replayed(TrialId trial) const {
    const json* const note = notes_.noted('d');
    if (!note) return {.trial = trial};
    const auto decisions = decisions_from(*note);
    if (!decisions || decisions->size() != 1 || !check_decision(trial, decisions->front())) {
      guard_.give_up("assess", "the journal has no decision on this trial");
    }
    return decisions->front();
  }

  // If none of the reports is new, one of them has another value.
  void keep_reports(TrialId trial, std::span<const Report> reports) {
    auto& kept = events_.reports[trial];
    const std::size_t same = kept.size() < reports.size() ? kept.size() : 0;
    kept.resize(same);
    kept.insert(kept.end(), reports.begin() + static_cast<std::ptrdiff_t>(same), reports.end());
  }

  void happened(AssessorEvent event) {
    events_.events.push_back(event);
    if (events_.events.size() % kMostEvents == 0) save_plugin();
  }

  Result<void> begin_again(bool /*fresh*/) const override {
    if (!state_.is_null()) TRY(plugin_->load(state_));
    for (const AssessorEvent& event : events_.events) {
      if (const auto* ended = std::get_if<Ended>(&event)) {
        TRY(plugin_->trial_end(ended->trial, ended->end));
        continue;
      }
      const auto& assessed = std::get<Assessed>(event);
      const auto kept = events_.reports.find(assessed.trial);
      if (kept == events_.reports.end() || kept->second.empty()) continue;
      const std::size_t count = std::clamp<std::size_t>(assessed.reports, 1, kept->second.size());
      TRY(plugin_->assess(assessed.trial, std::span(kept->second).first(count)));
    }
    return {};
  }

  Notebook notes_;
};

}  // namespace

std::unique_ptr<Assessor> make_guarded(std::unique_ptr<PluginAssessor> assessor,
                                       const PluginDescription& which, const std::string& plugin,
                                       Log log) {
  return std::make_unique<GuardedAssessor>(std::move(assessor), which, plugin, std::move(log));
}

}  // namespace attune
