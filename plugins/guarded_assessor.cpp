#include "plugins/guarded_assessor.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/saved_numbers.h"
#include "plugins/answers.h"
#include "plugins/assessor_events.h"
#include "plugins/guard.h"
#include "plugins/notes.h"

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

class GuardedAssessor final : public Assessor {
 public:
  GuardedAssessor(std::unique_ptr<PluginAssessor> assessor, const PluginDescription& which,
                  const std::string& plugin, Log log)
      : assessor_(std::move(assessor)),
        guard_("plug-in " + plugin + ": assessor " + which.name, std::move(log)),
        saves_(which.saves) {}

  Decision assess(TrialId trial, std::span<const Report> reports) override {
    ++calls_;
    Decision decision = twice("assess", [&]() -> Result<Decision> {
      auto answer = TRY(assessor_->assess(trial, reports));
      if (!replaying_) TRY(check_decision(trial, answer));
      return answer;
    });
    if (replaying_) decision = replayed(trial);
    remember(trial, reports);
    happened(Assessed{trial, reports.size()});
    if (decision.action != Action::keep_going) {
      note_decisions(calls_, std::span(&decision, 1), notes_);
    }
    return decision;
  }

  void trial_end(TrialId trial, End end) override {
    twice("trial_end", [&] { return assessor_->trial_end(trial, end); });
    happened(Ended{trial, end});
  }

  json save() const override {
    if (saves_) save_state();
    return {{"calls", calls_},
            {"saved", !state_.is_null()},
            {"plugin", state_},
            {"events", save_events(events_)}};
  }

  Result<void> load(const json& state) override {
    const std::int64_t calls = TRY(integer_at(state, "calls"));
    if (calls < 0) return fail("saved state: \"calls\" is negative");
    AssessorEvents events = TRY(load_assessor_events(TRY(object_at(state, "events"))));
    json plugin = TRY(state_of_plugin(state, saves_));
    std::swap(state_, plugin);
    std::swap(events_, events);
    auto ready = begin_again();
    if (!ready) ready = recover();
    if (!ready && replaying_) guard_.give_up("load", ready.error().message);
    if (!ready) {
      std::swap(state_, plugin);
      std::swap(events_, events);
      if (const auto back = recover(); !back) guard_.give_up("load", back.error().message);
      return std::unexpected(guard_.error("load", ready.error().message));
    }
    calls_ = static_cast<std::uint64_t>(calls);
    return {};
  }

  std::string take_notes() override { return std::exchange(notes_, {}); }
  void replay_notes(const std::string& notes) override {
    replaying_ = true;
    pending_ = read_notes(notes);
  }
  void end_replay() override {
    replaying_ = false;
    pending_.clear();
  }

 private:
  template <class Call>
  typename std::invoke_result_t<Call>::value_type twice(const char* name, Call&& call) const {
    return guard_.try_twice(name, call, [this] { return recover(); });
  }

  Decision replayed(TrialId trial) const {
    const auto found = pending_.find(calls_);
    if (found == pending_.end() || found->second.kind != 'd') return {.trial = trial};
    const auto decisions = decisions_from(found->second.content);
    if (!decisions || decisions->size() != 1 || !check_decision(trial, decisions->front())) {
      guard_.give_up("assess", "the journal has no decision on this trial");
    }
    return decisions->front();
  }

  // Keeps a copy of the reports. If none is new, one of them has another value.
  void remember(TrialId trial, std::span<const Report> reports) {
    auto& kept = events_.reports[trial];
    const std::size_t same = kept.size() < reports.size() ? kept.size() : 0;
    kept.resize(same);
    kept.insert(kept.end(), reports.begin() + static_cast<std::ptrdiff_t>(same), reports.end());
  }

  void happened(AssessorEvent event) {
    events_.events.push_back(event);
    if (saves_ && events_.events.size() % kMostEvents == 0) save_state();
  }

  void save_state() const {
    auto state = assessor_->save();
    if (state && !state->is_null()) {
      state_ = *std::move(state);
      events_ = {};
      return;
    }
    const std::string why = state ? "null is no state" : state.error().message;
    guard_.warn("save", why + "; it is started anew");
    if (const auto ready = recover(); !ready) guard_.give_up("save", ready.error().message);
  }

  Result<void> recover() const {
    TRY(assessor_->restart());
    return begin_again();
  }

  Result<void> begin_again() const {
    if (!state_.is_null()) TRY(assessor_->load(state_));
    for (const AssessorEvent& event : events_.events) {
      if (const auto* ended = std::get_if<Ended>(&event)) {
        TRY(assessor_->trial_end(ended->trial, ended->end));
        continue;
      }
      const auto& assessed = std::get<Assessed>(event);
      const auto kept = events_.reports.find(assessed.trial);
      if (kept == events_.reports.end() || kept->second.empty()) continue;
      const std::size_t count = std::clamp<std::size_t>(assessed.reports, 1, kept->second.size());
      TRY(assessor_->assess(assessed.trial, std::span(kept->second).first(count)));
    }
    return {};
  }

  // save() is const, and changes what the plug-in must be told again.
  const std::unique_ptr<PluginAssessor> assessor_;
  const Guard guard_;
  const bool saves_;
  mutable json state_;  // the last one that it saved; null: none
  mutable AssessorEvents events_;
  std::uint64_t calls_ = 0;
  std::string notes_;
  bool replaying_ = false;
  std::map<std::uint64_t, Note> pending_;
};

}  // namespace

std::unique_ptr<Assessor> make_guarded(std::unique_ptr<PluginAssessor> assessor,
                                       const PluginDescription& which, const std::string& plugin,
                                       Log log) {
  return std::make_unique<GuardedAssessor>(std::move(assessor), which, plugin, std::move(log));
}

}  // namespace attune
