#include "plugins/guarded_tuner.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/saved_numbers.h"
#include "plugins/answers.h"
#include "plugins/guard.h"
#include "plugins/notes.h"
#include "plugins/tuner_events.h"

namespace attune {
namespace {

class GuardedTuner final : public Tuner {
 public:
  GuardedTuner(std::unique_ptr<PluginTuner> tuner, const PluginDescription& which,
               const std::string& plugin, Log log)
      : tuner_(std::move(tuner)),
        guard_("plug-in " + plugin + ": tuner " + which.name, std::move(log)),
        saves_(which.saves),
        wants_reports_(which.wants_reports),
        any_parameters_(which.any_parameters) {}

  Result<void> set_space(const Space& space) override {
    ++calls_;
    if (const Note* note = noted('r'); note && note->content.is_string()) {
      const auto why = note->content.get<std::string>();
      note_refusal(calls_, why, notes_);
      return fail(why);
    }
    if (replaying_) {  // then it accepted the space
      tell_it("space", [&] { return tuner_->set_space(space); });
    } else if (const auto set = tuner_->set_space(space); !set) {
      Error why = guard_.error("space", set.error().message);
      // It stays with the former space. Without one nothing has begun.
      if (space_) {
        if (const auto ready = recover(); !ready) guard_.give_up("space", ready.error().message);
        note_refusal(calls_, why.message, notes_);
      }
      return std::unexpected(std::move(why));
    }
    space_ = space;
    events_.clear();
    running_.clear();
    state_ = nullptr;
    behind_ = false;
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    ++calls_;
    std::vector<Answer> answers = replaying_ ? replayed(ids) : asked(ids);
    bool all_wait = true;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      all_wait = all_wait && std::holds_alternative<NotYet>(answers[i]);
      const auto* proposal = std::get_if<Proposal>(&answers[i]);
      if (proposal && !proposal->resume) happened(Adopted{ids[i], proposal->point});
    }
    if (!all_wait) note_answers(calls_, answers, notes_);
    return answers;
  }

  void withdraw(TrialId id) override {
    tell_it("withdraw", [&] { return tuner_->withdraw(id); });
    happened(Withdrawn{id});
  }

  void tell(std::span<const Outcome> outcomes) override {
    tell_it("tell", [&] { return tuner_->tell(outcomes); });
    for (const Outcome& outcome : outcomes) happened(outcome);
  }

  void adopt(TrialId id, const Point& point) override {
    tell_it("adopt", [&] { return tuner_->adopt(id, point); });
    happened(Adopted{id, point});
  }

  bool wants_reports() const override { return wants_reports_; }
  bool any_parameters() const override { return any_parameters_; }

  std::vector<Decision> on_report(const Report& report) override {
    ++calls_;
    std::vector<Decision> decisions;
    const auto call = [&]() -> Result<void> {
      decisions = TRY(tuner_->on_report(report));
      return replaying_ ? Result<void>() : check_decisions(decisions, known());
    };
    tell_it("report", call);
    happened(report);
    if (replaying_) {
      const Note* note = noted('d');
      decisions = note ? fitting("report", decisions_from(note->content)) : std::vector<Decision>();
      const auto fine = check_decisions(decisions, known());
      if (!fine) guard_.give_up("report", "in the journal: " + fine.error().message);
    }
    if (!decisions.empty()) note_decisions(calls_, decisions, notes_);
    return decisions;
  }

  void skip_ahead() override {
    tell_it("skip_ahead", [&] { return tuner_->skip_ahead(); });
  }

  json save() const override {
    if (saves_) remember();
    return {{"calls", calls_},  {"running", std::vector<TrialId>(running_.begin(), running_.end())},
            {"most", most_},    {"saved", !state_.is_null()},
            {"plugin", state_}, {"events", save_events(events_)}};
  }

  Result<void> load(const json& state) override {
    const std::int64_t calls = TRY(integer_at(state, "calls"));
    if (calls < 0) return fail("saved state: \"calls\" is negative");
    std::set<TrialId> running = TRY(trials_at(state, "running"));
    const std::int64_t most = TRY(integer_at(state, "most"));
    TunerEvents events = TRY(load_events(*space_, TRY(object_at(state, "events"))));
    json plugin = TRY(state_of_plugin(state, saves_));
    std::swap(state_, plugin);
    std::swap(events_, events);
    auto ready = begin_again(/*fresh=*/false);
    if (!ready) ready = recover();
    if (!ready && replaying_) guard_.give_up("load", ready.error().message);
    if (!ready) {
      std::swap(state_, plugin);
      std::swap(events_, events);
      if (const auto back = recover(); !back) guard_.give_up("load", back.error().message);
      return std::unexpected(guard_.error("load", ready.error().message));
    }
    calls_ = static_cast<std::uint64_t>(calls);
    running_ = std::move(running);
    most_ = most;
    behind_ = false;
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
  KnownTrials known() const {
    return {[this](TrialId id) { return running_.contains(id); }, most_};
  }

  template <class Call>
  typename std::invoke_result_t<Call>::value_type twice(const char* name, Call&& call) const {
    return guard_.try_twice(name, call, [this] { return recover(); });
  }
  template <class Call>
  void tell_it(const char* name, Call&& call) {
    twice(name, [&]() -> Result<void> { return call(); });
  }

  std::vector<Answer> asked(std::span<const TrialId> ids) {
    if (std::exchange(behind_, false)) skip_ahead();
    return twice("ask", [&]() -> Result<std::vector<Answer>> {
      auto answers = TRY(tuner_->ask(ids));
      TRY(check_answers(answers, ids.size(), *space_, known()));
      return answers;
    });
  }

  // The answers of the notes. The plug-in learns them, whatever it would answer now.
  std::vector<Answer> replayed(std::span<const TrialId> ids) {
    const Note* note = noted('a');
    std::vector<Answer> answers = note ? fitting("ask", answers_from(note->content))
                                       : std::vector<Answer>(ids.size(), NotYet{});
    const auto fine = check_answers(answers, ids.size(), *space_, known());
    if (!fine) guard_.give_up("ask", "in the journal: " + fine.error().message);
    std::vector<Answer> now;
    if (saves_) now = twice("ask", [&] { return tuner_->ask(ids); });
    now.resize(ids.size(), NotYet{});
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto* is = std::get_if<Proposal>(&now[i]);
      const auto* should = std::get_if<Proposal>(&answers[i]);
      if (is && should && is->point == should->point && is->resume == should->resume) continue;
      if (is) {
        if (!std::exchange(warned_, true)) {
          guard_.warn("ask", "it answers otherwise than before; what it answered then counts");
        }
        tell_it("withdraw", [&] { return tuner_->withdraw(ids[i]); });
      }
      if (!should || should->resume) continue;
      tell_it("adopt", [&] { return tuner_->adopt(ids[i], should->point); });
      behind_ = behind_ || !saves_;
    }
    return answers;
  }

  const Note* noted(char kind) const {
    const auto found = pending_.find(calls_);
    return found != pending_.end() && found->second.kind == kind ? &found->second : nullptr;
  }
  template <class T>
  T fitting(const char* call, Result<T> from_notes) const {
    if (!from_notes) guard_.give_up(call, "in the journal: " + from_notes.error().message);
    return *std::move(from_notes);
  }

  void happened(TunerEvent event) {
    if (const auto* adopted = std::get_if<Adopted>(&event)) {
      running_.insert(adopted->trial);
      most_ = std::max(most_, adopted->trial);
    } else if (const auto* withdrawn = std::get_if<Withdrawn>(&event)) {
      running_.erase(withdrawn->trial);
    } else if (const auto* outcome = std::get_if<Outcome>(&event)) {
      running_.erase(outcome->trial);
    }
    events_.push_back(std::move(event));
    if (saves_ && events_.size() % kMostEvents == 0) remember();
  }

  // Saves the state of the plug-in. If that fails, the former state and the events since then stay.
  void remember() const {
    auto state = tuner_->save();
    if (state && !state->is_null()) {
      state_ = *std::move(state);
      events_.clear();
      return;
    }
    const std::string why = state ? "null is no state" : state.error().message;
    guard_.warn("save", why + "; it is started anew");
    if (const auto ready = recover(); !ready) guard_.give_up("save", ready.error().message);
  }

  Result<void> recover() const {
    TRY(tuner_->restart());
    return begin_again(/*fresh=*/true);
  }

  // From set_space() to where it was. `fresh`: it has no space yet.
  Result<void> begin_again(bool fresh) const {
    if (!space_) return {};
    if (fresh) TRY(tuner_->set_space(*space_));
    if (!state_.is_null()) TRY(tuner_->load(state_));
    if (events_.empty()) return {};
    std::vector<Outcome> outcomes;  // those that come one behind the other, told in one call
    for (const TunerEvent& event : events_) {
      if (const auto* outcome = std::get_if<Outcome>(&event)) {
        outcomes.push_back(*outcome);
        continue;
      }
      if (!outcomes.empty()) TRY(tuner_->tell(std::exchange(outcomes, {})));
      TRY(retell(event));
    }
    if (!outcomes.empty()) TRY(tuner_->tell(outcomes));
    return tuner_->skip_ahead();
  }

  Result<void> retell(const TunerEvent& event) const {
    if (const auto* adopted = std::get_if<Adopted>(&event)) {
      return tuner_->adopt(adopted->trial, adopted->point);
    }
    if (const auto* withdrawn = std::get_if<Withdrawn>(&event)) {
      return tuner_->withdraw(withdrawn->trial);
    }
    if (const auto* report = std::get_if<Report>(&event)) {
      TRY(tuner_->on_report(*report));
    }
    return {};
  }

  // save() is const, and changes what the plug-in must be told again: state_ and events_.
  const std::unique_ptr<PluginTuner> tuner_;
  const Guard guard_;
  const bool saves_, wants_reports_, any_parameters_;
  std::optional<Space> space_;
  mutable json state_;          // the last one that it saved; null: none
  mutable TunerEvents events_;  // since then; of one that cannot save: all
  std::set<TrialId> running_;   // proposed or adopted, and not told
  TrialId most_ = -1;           // the highest id of these, ever
  std::uint64_t calls_ = 0;     // that may be noted
  std::string notes_;           // not taken yet
  bool replaying_ = false;
  std::map<std::uint64_t, Note> pending_;  // of the replay
  bool behind_ = false;                    // it has adopted proposals that it might make again
  bool warned_ = false;
};

}  // namespace

std::unique_ptr<Tuner> make_guarded(std::unique_ptr<PluginTuner> tuner,
                                    const PluginDescription& which, const std::string& plugin,
                                    Log log) {
  return std::make_unique<GuardedTuner>(std::move(tuner), which, plugin, std::move(log));
}

}  // namespace attune
