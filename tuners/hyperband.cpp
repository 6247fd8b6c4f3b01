// Hyperband as NNI's advisor runs it (rungs/nni_brackets.h): rounds of new trials, each with its
// budget in the parameter TRIAL_BUDGET; trials end by themselves when they have used it.
//
// The value of a trial is its final result, else its last report. It differs from NNI in this:
//
//   - A trial that has failed has no value and does not go on; NNI stops with an error if too few
//     are left.
//   - Under a manager that pauses trials, a trial that ignores TRIAL_BUDGET is stopped when it has
//     used its budget; its last report is the result. In NNI it runs on.
//   - A trial that goes on starts from the checkpoint of its predecessor, if the manager can do
//     that.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "base/saved_numbers.h"
#include "rungs/nni_brackets.h"
#include "rungs/reason_text.h"
#include "tuners/parts/bracket_arguments.h"
#include "tuners/parts/bracket_tuner.h"
#include "tuners/registry.h"

namespace attune {
namespace hyperband_tuner {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

class Hyperband final : public BracketTuner {
 public:
  Hyperband(Setup setup, const NniBrackets& none) : BracketTuner(std::move(setup)), none_(none) {}

 private:
  struct Trial {
    TrialId origin = 0;  // under which the search algorithm knows the configuration
    double budget = 0;
    std::optional<std::int64_t> step = {};  // of the last report
    double loss = kNoValue;                 // of that report
    std::optional<TrialId> from = {};       // from whose checkpoint it started
  };
  // A trial that has ended with a loss.
  struct Ended {
    TrialId origin = 0;  // as above
    double loss = kNoValue;
    std::string why = {};  // for a human: why it goes on; empty: its round is not over
  };

  Answer next(TrialId id) override {
    while (const auto job = brackets_.take(!exhausted_)) {
      TrialId origin = id;
      Proposal proposal{.point = {}, .budget = job->budget, .checkpoint_from = job->from};
      if (job->from) {
        const Ended former = origins_.extract(*job->from).mapped();
        origin = former.origin;
        proposal.reason = fmt::format("{}: goes on to {:g}", former.why, job->budget);
        proposal.point = *searcher().point_of(origin);
      } else {
        Answer answer = searcher().ask(id);
        const auto* fresh = std::get_if<Proposal>(&answer);
        if (!fresh) {
          brackets_.give_back(*job);
          if (std::holds_alternative<NotYet>(answer)) return NotYet{};
          exhausted_ = true;
          for (const auto& round : brackets_.vacate()) close(round);
          continue;
        }
        proposal.point = fresh->point;
      }
      brackets_.begin(id, *job);
      trials_[id] = {.origin = origin, .budget = job->budget, .from = job->from};
      return proposal;
    }
    return brackets_.running() > 0 ? Answer(NotYet{}) : Answer(Exhausted{});
  }

  bool knows(TrialId id) const override { return trials_.contains(id); }

  void report(const Report& report, double resource, double loss) override {
    Trial& trial = trials_.at(report.trial);
    if (!trial.step || report.step >= *trial.step) {
      trial.step = report.step;
      trial.loss = loss;
      brackets_.value(report.trial, loss);
    }
    if (!setup().pauses || resource < trial.budget) return;
    if (!brackets_.in_last_round(report.trial)) {
      decide({report.trial, Action::checkpoint, "its successor may start from here"});
    }
    decide({report.trial, Action::stop,
            used_up_text(resource_attr(), resource, trial.budget, result(loss)), true});
  }

  void ended(const Outcome& outcome) override {
    const Trial trial = trials_.extract(outcome.trial).mapped();
    const bool failed = outcome.end == End::failed || outcome.end == End::diverged;
    const double loss = outcome.usable() ? *outcome.loss : failed ? kNoValue : trial.loss;
    if (!std::isnan(loss) || trial.step) brackets_.value(outcome.trial, loss);
    if (std::isnan(loss)) {
      searcher().observe(trial.origin, trial.budget, std::nullopt, outcome.metrics);
    } else if (outcome.usable()) {
      searcher().observe(trial.origin, trial.budget, loss, outcome.metrics);
    } else {
      searcher().observe(trial.origin, trial.budget, loss, {{metric(), shown(loss)}});
    }
    if (trial.from) drop_checkpoint(*trial.from);
    origins_[outcome.trial] = {trial.origin, loss};
    if (std::isnan(loss)) over(outcome.trial);
    if (const auto round = brackets_.end(outcome.trial)) close(*round);
  }

  void close(const NniBrackets::Round& round) {
    for (std::size_t i = 0; i < round.best.size(); ++i) {
      Ended& one = origins_.at(round.best[i]);
      one.why = rank_text("budget", round.budget, result(one.loss), i + 1, round.results) +
                kept_text(round.best.size(), result(origins_.at(round.best.back()).loss));
    }
    for (const TrialId trial : round.rest) over(trial);
  }

  // The configuration does not go on.
  void over(TrialId trial) {
    const auto found = origins_.extract(trial);
    searcher().end(found.mapped().origin);
    drop_checkpoint(trial);
  }

  void drop_checkpoint(TrialId trial) {
    decide({trial, Action::drop_checkpoint, "no trial starts from it any more"});
  }

  void withdrawn(TrialId id) override {
    const Trial trial = trials_.at(id);
    // The point was accepted once; it cannot be replaced.
    if (trial.from) return ended({.trial = id, .end = End::failed});
    searcher().withdraw(id);
    trials_.erase(id);
    brackets_.take_back(id);
  }

  void forget() override {
    trials_.clear();
    origins_.clear();
    brackets_ = none_;
    exhausted_ = false;
  }

  json save_rule() const override {
    json trials = json::array(), origins = json::array();
    for (const auto& [id, one] : trials_) {
      const json step = one.step ? json::array({*one.step}) : json::array();
      const json from = one.from ? json::array({*one.from}) : json::array();
      trials.push_back(
          {id, one.origin, save_numbers(std::array{one.budget, one.loss}), step, from});
    }
    for (const auto& [id, one] : origins_) {
      origins.push_back({id, one.origin, save_numbers(std::span(&one.loss, 1)), one.why});
    }
    return {{"trials", std::move(trials)},
            {"origins", std::move(origins)},
            {"exhausted", exhausted_},
            {"rounds", brackets_.save()}};
  }

  Result<Loaded> load_rule(const json& rule) override {
    const auto whole = [](const json& x) { return x.is_number_integer(); };
    const auto perhaps = [&](const json& x) {
      return x.is_array() && (x.empty() || (x.size() == 1 && whole(x[0])));
    };
    NniBrackets brackets = none_;
    TRY(brackets.load(TRY(object_at(rule, "rounds"))));
    const bool exhausted = TRY(boolean_at(rule, "exhausted"));
    Loaded loaded;
    std::map<TrialId, Trial> trials;
    for (const json& one : TRY(array_at(rule, "trials"))) {
      const bool well_formed = one.is_array() && one.size() == 5 && whole(one[0]) &&
                               whole(one[1]) && perhaps(one[3]) && perhaps(one[4]);
      if (!well_formed) return fail("saved state: a trial of Hyperband is damaged");
      const auto budget_loss = TRY(numbers(one[2]));
      const auto id = one[0].get<TrialId>();
      if (budget_loss.size() != 2 || !std::isfinite(budget_loss[0]) || std::isinf(budget_loss[1]) ||
          !brackets.runs(id)) {
        return fail("saved state: a trial of Hyperband is in no round");
      }
      Trial trial{.origin = one[1], .budget = budget_loss[0], .loss = budget_loss[1]};
      if (!one[3].empty()) trial.step = one[3][0].get<std::int64_t>();
      if (!one[4].empty()) trial.from = one[4][0].get<TrialId>();
      loaded.origins.push_back(trial.origin);
      trials[id] = trial;
    }
    if (trials.size() != brackets.running()) return fail("saved state: a trial is missing");
    std::map<TrialId, Ended> origins;
    for (const json& one : TRY(array_at(rule, "origins"))) {
      const bool well_formed =
          one.is_array() && one.size() == 4 && whole(one[0]) && whole(one[1]) && one[3].is_string();
      if (!well_formed) return fail("saved state: an origin is damaged");
      const auto loss = TRY(numbers(one[2]));
      if (loss.size() != 1) return fail("saved state: an origin needs a loss");
      origins[one[0].get<TrialId>()] = {one[1].get<TrialId>(), loss[0], one[3]};
      loaded.origins.push_back(one[1].get<TrialId>());
    }
    for (const TrialId trial : brackets.ended()) {
      if (!origins.contains(trial)) return fail("saved state: a result without its configuration");
    }
    loaded.commit = [this, trials, origins, brackets, exhausted] {
      trials_ = trials;
      origins_ = origins;
      brackets_ = brackets;
      exhausted_ = exhausted;
    };
    return loaded;
  }

  const NniBrackets none_;
  NniBrackets brackets_{none_};
  std::map<TrialId, Trial> trials_;   // that run
  std::map<TrialId, Ended> origins_;  // the trials that have ended and may go on
  bool exhausted_ = false;            // there are no new configurations any more
};

}  // namespace
}  // namespace hyperband_tuner

extern const TunerEntry hyperband_entry = {
    .name = "Hyperband",
    .aliases = {},
    .summary = "rounds of new trials with growing budgets; the best of a round go on",
    .arguments = {{.name = "R",
                   .type = Argument::Type::integer,
                   .fallback = 60,
                   .help = "the largest budget of a trial",
                   .low = 1,
                   .high = 1e9},
                  {.name = "eta",
                   .type = Argument::Type::integer,
                   .fallback = 3,
                   .help = "one of so many trials goes on, with so many times the budget",
                   .low = 2,
                   .high = 1e6},
                  {.name = "exec_mode",
                   .type = Argument::Type::choice,
                   .fallback = "parallelism",
                   .help = "parallelism: idle workers begin the next bracket; serial: they wait",
                   .choices = {"parallelism", "serial"}},
                  resource_argument("time_attr"),
                  Searcher::argument()},
    .maximizes = true,
    .wants_reports = true,
    .make = [](const json& args, const TunerContext& context,
               Rng rng) -> Result<std::unique_ptr<Tuner>> {
      const auto most = args["R"].get<std::int64_t>();
      auto setup = TRY(
          bracket_setup("Hyperband", args, context, rng, "time_attr", static_cast<double>(most)));
      return std::make_unique<hyperband_tuner::Hyperband>(
          std::move(setup),
          NniBrackets(most, args["eta"].get<std::int64_t>(), args["exec_mode"] == "serial"));
    }};

}  // namespace attune
