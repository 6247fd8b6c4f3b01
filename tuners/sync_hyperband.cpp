// Synchronous Hyperband: trials pause when they have used the resource of their rung. When all
// trials of a rung have done so, the best third goes on. Meanwhile free workers fill the next
// bracket.
//
// Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar, "Hyperband: A Novel Bandit-Based Approach to
// Hyperparameter Optimization" (JMLR 2018). The rule is that of Syne Tune's
// SynchronousHyperbandScheduler; rungs/sync_brackets.h says where it differs. Beyond it:
//
//   - A trial that a full rung leaves behind is stopped. In Syne Tune it stays paused for ever.
//   - At the largest resource a trial is complete. In Syne Tune it is paused there.
#include "base/saved_numbers.h"
#include "rungs/sync_brackets.h"
#include "tuners/parts/bracket_arguments.h"
#include "tuners/parts/bracket_pauses.h"
#include "tuners/registry.h"

namespace attune {
namespace sync_hyperband_tuner {
namespace {

class SyncHyperband final : public PausingTuner {
 public:
  SyncHyperband(Setup setup, std::vector<RungSizes> sizes)
      : PausingTuner(std::move(setup)), sizes_(std::move(sizes)) {}

 private:
  static constexpr auto kPromotes = SyncBrackets::Promotes::every_bracket;

  Answer next(TrialId id) override {
    bool searcher_waits = false, begins = !all_begun();
    while (const auto place = take_place(brackets_, exhausted_, searcher_waits, begins)) {
      const auto level = static_cast<double>(brackets_.level(*place));
      const bool pauses = !brackets_.is_top(*place);
      if (const auto waiting = brackets_.trial_at(*place)) {
        Continued continued = go_on(id, *waiting, level, pauses);
        brackets_.begin(continued.trial, *place);
        return std::move(continued.proposal);
      }
      Answer answer = searcher().ask(id);
      if (const auto* proposal = std::get_if<Proposal>(&answer)) {
        brackets_.begin(id, *place);
        return start(id, proposal->point, level, pauses);
      }
      brackets_.give_back(*place);
      if (std::holds_alternative<NotYet>(answer)) {
        searcher_waits = true;  // others may still go on
      } else {
        exhausted_ = true;
        for (const auto& full : brackets_.vacate()) judge(full);
      }
    }
    return searcher_waits ? Answer(NotYet{}) : nothing_now();
  }

  void reached(TrialId trial, double loss) override { close(brackets_.result(trial, loss)); }
  std::string waiting_text(TrialId trial, double loss) const override {
    return waits_in(brackets_, trial, loss);
  }
  void again(TrialId trial) override { brackets_.give_back(trial, true); }
  void lost(TrialId trial) override { close(brackets_.lost(trial)); }
  void take_back(TrialId trial) override { brackets_.give_back(trial, false); }
  void close(const std::optional<SyncBrackets::Full>& full) {
    if (full) judge(*full);
  }

  void forget_rule() override {
    brackets_ = SyncBrackets(sizes_, kPromotes);
    exhausted_ = false;
  }

  json save_brackets() const override {
    return {{"exhausted", exhausted_}, {"slots", brackets_.save()}};
  }

  Result<std::function<void()>> load_brackets(const json& state, const Runs& runs) override {
    const bool exhausted = TRY(boolean_at(state, "exhausted"));
    auto brackets = TRY(SyncBrackets::load(sizes_, kPromotes, TRY(object_at(state, "slots"))));
    if (runs_of(brackets) != runs) return fail("saved state: a trial without its slot");
    return [this, brackets = std::move(brackets), exhausted] {
      brackets_ = brackets;
      exhausted_ = exhausted;
    };
  }

  std::vector<RungSizes> sizes_;
  SyncBrackets brackets_{sizes_, kPromotes};
  bool exhausted_ = false;  // there are no new configurations any more
};

}  // namespace
}  // namespace sync_hyperband_tuner

extern const TunerEntry sync_hyperband_entry = {
    .name = "SyncHyperband",
    .aliases = {},
    .summary =
        "brackets of rungs: trials pause until their rung is full, and the best third goes on",
    .arguments = sync_bracket_arguments(),
    .maximizes = false,
    .wants_reports = true,
    .make = [](const json& args, const TunerContext& context,
               Rng rng) -> Result<std::unique_ptr<Tuner>> {
      auto sizes = TRY(sync_bracket_sizes("SyncHyperband", args));
      const auto max_t = static_cast<double>(sizes[0].back().level);
      auto setup = TRY(bracket_setup("SyncHyperband", args, context, rng, "resource_attr", max_t));
      return std::make_unique<sync_hyperband_tuner::SyncHyperband>(std::move(setup),
                                                                   std::move(sizes));
    }};

}  // namespace attune
