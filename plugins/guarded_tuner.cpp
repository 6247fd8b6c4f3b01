#include "plugins/guarded_tuner.h"

#include <fmt/format.h>

#include <set>

#include "plugins/answers.h"
#include "plugins/notes.h"
#include "plugins/restartable.h"
#include "plugins/tuner_events.h"

namespace attune {
namespace {

class GuardedTuner final : public Tuner, Restartable<PluginTuner, TunerEvents> {
 public:
  GuardedTuner(std::unique_ptr<PluginTuner> tuner, const PluginDescription& which,
               const std::string& plugin, Log log)
      : Restartable(std::move(tuner), "plug-in " + plugin + ": tuner " + which.name, which.saves,
                    std::move(log)),
        wants_reports_(which.wants_reports),
        any_parameters_(which.any_parameters) {}

  Result<void> set_space(const Space& space) override {
    notes_.next_call();
    if (const json* note = notes_.noted('r'); note && note->is_string()) {
      const auto why = note->get<std::string>();
      notes_.add_refusal(why);
      return fail(why);
    }
    if (notes_.replaying()) {  // then it accepted the space
      tell_it("space", [&] { return plugin_->set_space(space); });
    } else if (const auto set = plugin_->set_space(space); !set) {
      Error why = guard_.error("space", set.error().message);
      // It stays with the former space. Without one nothing has begun.
      if (space_) {
        if (const auto ready = recover(); !ready) guard_.give_up("space", ready.error().message);
        notes_.add_refusal(why.message);
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

  bool set_priors(const Space&) override { return false; }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    if (ids.empty()) return {};  // the plug-in need not know that this is possible
    notes_.next_call();
    std::vector<Answer> answers = notes_.replaying() ? replayed(ids) : asked(ids);
    bool all_wait = true;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      all_wait = all_wait && std::holds_alternative<NotYet>(answers[i]);
      const auto* proposal = std::get_if<Proposal>(&answers[i]);
      if (proposal && !proposal->resume) happened(Adopted{ids[i], proposal->point});
    }
    if (!all_wait) notes_.add(answers);
    return answers;
  }

  void withdraw(TrialId id) override {
    tell_it("withdraw", [&] { return plugin_->withdraw(id); });
    happened(Withdrawn{id});
  }

  void tell(std::span<const Outcome> outcomes) override {
    tell_it("tell", [&] { return plugin_->tell(outcomes); });
    for (const Outcome& outcome : outcomes) happened(outcome);
  }

  void adopt(TrialId id, const Point& point) override {
    tell_it("adopt", [&] { return plugin_->adopt(id, point); });
    happened(Adopted{id, point});
  }

  bool wants_reports() const override { return wants_reports_; }
  bool any_parameters() const override { return any_parameters_; }

  std::vector<Decision> on_report(const Report& report) override {
    notes_.next_call();
    std::vector<Decision> decisions;
    const auto call = [&]() -> Result<void> {
      decisions = TRY(plugin_->on_report(report));
      return notes_.replaying() ? Result<void>() : check_decisions(decisions, known());
    };
    tell_it("report", call);
    happened(report);
    if (notes_.replaying()) {
      const json* note = notes_.noted('d');
      decisions = note ? fitting("report", decisions_from(*note)) : std::vector<Decision>();
      const auto fine = check_decisions(decisions, known());
      if (!fine) guard_.give_up("report", "in the journal: " + fine.error().message);
    }
    if (!decisions.empty()) notes_.add(decisions);
    return decisions;
  }

  void skip_ahead() override {
    tell_it("skip_ahead", [&] { return plugin_->skip_ahead(); });
  }

  json save() const override {
    save_plugin();
    return {{"calls", notes_.calls()},
            {"running", std::vector<TrialId>(running_.begin(), running_.end())},
            {"most", most_},
            {"saved", !state_.is_null()},
            {"plugin", state_},
            {"events", save_events(events_)}};
  }

  Result<void> load(const json& state) override {
    const std::int64_t calls = TRY(integer_at(state, "calls"));
    if (calls < 0) return fail("saved state: \"calls\" is negative");
    std::set<TrialId> running = TRY(trials_at(state, "running"));
    const std::int64_t most = TRY(integer_at(state, "most"));
    TunerEvents events = TRY(load_events(*space_, TRY(object_at(state, "events"))));
    TRY(load_plugin(state, std::move(events), notes_.replaying()));
    notes_.set_calls(static_cast<std::uint64_t>(calls));
    running_ = std::move(running);
    most_ = most;
    behind_ = false;
    return {};
  }

  std::string take_notes() override { return notes_.take(); }
  void replay_notes(const std::string& notes) override { notes_.replay(notes); }
  void end_replay() override { notes_.end_replay(); }

 private:
  KnownTrials known() const {
    return {[this](TrialId id) { return running_.contains(id); }, most_};
  }

  template <class Call>
  void tell_it(const char* name, Call&& call) {
    twice(name, [&]() -> Result<void> { return call(); });
  }

  std::vector<Answer> asked(std::span<const TrialId> ids) {
    if (std::exchange(behind_, false)) skip_ahead();
    return twice("ask", [&]() -> Result<std::vector<Answer>> {
      auto answers = TRY(plugin_->ask(ids));
      TRY(check_answers(answers, ids.size(), *space_, known()));
      return answers;
    });
  }

  // The answers of the notes. The plug-in learns them, whatever it would answer now.
  std::vector<Answer> replayed(std::span<const TrialId> ids) {
    const json* note = notes_.noted('a');
    std::vector<Answer> answers =
        note ? fitting("ask", answers_from(*note)) : std::vector<Answer>(ids.size(), NotYet{});
    const auto fine = check_answers(answers, ids.size(), *space_, known());
    if (!fine) guard_.give_up("ask", "in the journal: " + fine.error().message);
    std::vector<Answer> now;
    if (saves_) now = twice("ask", [&] { return plugin_->ask(ids); });
    now.resize(ids.size(), NotYet{});
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto* is = std::get_if<Proposal>(&now[i]);
      const auto* should = std::get_if<Proposal>(&answers[i]);
      if (is && should && is->point == should->point && is->resume == should->resume) continue;
      if (is) {
        if (!std::exchange(warned_, true)) {
          guard_.warn("ask", "it answers otherwise than before; what it answered then counts");
        }
        tell_it("withdraw", [&] { return plugin_->withdraw(ids[i]); });
      }
      if (!should || should->resume) continue;
      tell_it("adopt", [&] { return plugin_->adopt(ids[i], should->point); });
      behind_ = behind_ || !saves_;
    }
    return answers;
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
    if (events_.size() % kMostEvents == 0) save_plugin();
  }

  Result<void> begin_again(bool fresh) const override {
    if (!space_) return {};
    if (fresh) TRY(plugin_->set_space(*space_));
    if (!state_.is_null()) TRY(plugin_->load(state_));
    if (events_.empty()) return {};
    std::vector<Outcome> outcomes;  // those that come one behind the other, told in one call
    for (const TunerEvent& event : events_) {
      if (const auto* outcome = std::get_if<Outcome>(&event)) {
        outcomes.push_back(*outcome);
        continue;
      }
      if (!outcomes.empty()) TRY(plugin_->tell(std::exchange(outcomes, {})));
      TRY(retell(event));
    }
    if (!outcomes.empty()) TRY(plugin_->tell(outcomes));
    return plugin_->skip_ahead();
  }

  Result<void> retell(const TunerEvent& event) const {
    if (const auto* adopted = std::get_if<Adopted>(&event)) {
      return plugin_->adopt(adopted->trial, adopted->point);
    }
    if (const auto* withdrawn = std::get_if<Withdrawn>(&event)) {
      return plugin_->withdraw(withdrawn->trial);
    }
    if (const auto* report = std::get_if<Report>(&event)) {
      TRY(plugin_->on_report(*report));
    }
    return {};
  }

  const bool wants_reports_, any_parameters_;
  std::optional<Space> space_;
  std::set<TrialId> running_;  // proposed or adopted, and not told
  TrialId most_ = -1;          // the highest id of these, ever
  Notebook notes_;
  bool behind_ = false;  // it has adopted proposals that it might make again
  bool warned_ = false;
};

}  // namespace

std::unique_ptr<Tuner> make_guarded(std::unique_ptr<PluginTuner> tuner,
                                    const PluginDescription& which, const std::string& plugin,
                                    Log log) {
  return std::make_unique<GuardedTuner>(std::move(tuner), which, plugin, std::move(log));
}

}  // namespace attune
