// Patience: stops a trial whose last `patience` + 1 results are all worse, by more than
// `min_delta`, than its best earlier result. With a `wrapped` assessor it stops only where that one
// does, too. Optuna, PatientPruner.
//
// The wrapped assessor sees all reports and has its default arguments; what it decides before
// patience is exhausted is dropped. So a rule that decides once and then no longer judges, as
// MedianStoppingRule without hard_stop, should not be wrapped.
#include <fmt/format.h>

#include <cmath>

#include "assessors/live_curves.h"
#include "assessors/registry.h"
#include "assessors/step_attr.h"
#include "base/saved_numbers.h"

namespace attune {
namespace patient {
namespace {

struct Options {
  std::size_t patience;
  double min_delta;
  std::optional<std::string> step_attr;
};

class Patient final : public Assessor {
 public:
  Patient(const Objective& objective, const Options& options, std::unique_ptr<Assessor> wrapped)
      : maximize_(objective.maximize),
        options_(options),
        curves_(objective, options.step_attr),
        wrapped_(std::move(wrapped)) {}

  // The wrapped assessor may decide on any of several new reports, so they come one by one.
  Decision assess(TrialId trial, std::span<const Report> reports) override {
    const std::size_t seen = curves_.seen(trial);
    Decision decision{trial, Action::keep_going, {}};
    for (std::size_t n = std::min(seen + 1, reports.size()); n <= reports.size(); ++n) {
      const auto next = assess_last(trial, reports.first(n));
      if (decision.action == Action::keep_going) decision = next;
    }
    return decision;
  }

  void trial_end(TrialId trial, End end) override {
    if (wrapped_) wrapped_->trial_end(trial, end);
    curves_.remove(trial);
  }

  json save() const override {
    json state = {{"live", curves_.save()}};
    if (wrapped_) state["wrapped"] = wrapped_->save();
    return state;
  }

  Result<void> load(const json& state) override {
    auto curves = TRY(curves_.loaded(TRY(array_at(state, "live"))));
    if (wrapped_) TRY(wrapped_->load(TRY(value_at(state, "wrapped"))));
    curves_ = std::move(curves);
    return {};
  }

 private:
  Decision assess_last(TrialId trial, std::span<const Report> reports) {
    Decision wrapped{trial, Action::keep_going, {}};
    if (wrapped_) wrapped = wrapped_->assess(trial, reports);
    Decision own = curves_.update(
        trial, reports, [&](const LiveCurves::Curve& curve) { return judge(trial, curve); });
    if (!wrapped_ || own.action == Action::keep_going) return own;
    if (wrapped.action != Action::keep_going) wrapped.reason = own.reason + "; " + wrapped.reason;
    return wrapped;
  }

  // NaN are no results here, but count for the patience.
  Decision judge(TrialId trial, const LiveCurves::Curve& curve) const {
    const std::size_t last = options_.patience + 1;
    Decision go{trial, Action::keep_going, {}};
    if (curve.values.size() <= last) return go;
    double recent = std::numeric_limits<double>::quiet_NaN();
    for (const double x : std::span(curve.values).last(last)) {
      recent = maximize_ ? std::fmax(recent, x) : std::fmin(recent, x);
    }
    // The best of all results is that of the earlier ones, or it is recent, and nothing is worse.
    const double best = maximize_ ? curve.highest : curve.lowest;
    const bool worse = maximize_ ? best - options_.min_delta > recent  // false for NaN
                                 : best + options_.min_delta < recent;
    if (!worse) return go;
    return {trial, Action::stop,
            fmt::format("step {}: the best of the last {} results, {:.6g}, is worse than the best "
                        "so far, {:.6g}, by more than {:.6g}",
                        curve.steps.back(), last, recent, best, options_.min_delta)};
  }

  bool maximize_;
  Options options_;
  LiveCurves curves_;
  std::unique_ptr<Assessor> wrapped_;  // maybe none
};

}  // namespace
}  // namespace patient

extern const AssessorEntry patient_entry = {
    .name = "Patient",
    .aliases = {"PatientPruner"},
    .summary = "stops a trial that no longer improves, or where another assessor stops it, too",
    .arguments = {{.name = "patience",
                   .type = Argument::Type::integer,
                   .fallback = 10,
                   .help = "how many results in a row may be worse; the next one stops the trial",
                   .low = 0,
                   .high = 1e6},
                  {.name = "min_delta",
                   .type = Argument::Type::number,
                   .fallback = 0.0,
                   .help = "a result is worse only if it is so by more than this",
                   .low = 0},
                  {.name = "wrapped",
                   .type = Argument::Type::text,
                   .fallback = "",
                   .help = "another assessor, with its defaults: stop only where it does, too"},
                  step_attr_argument()},
    .maximizes = true,
    .make = [](const json& args, const Context& context,
               Rng rng) -> Result<std::unique_ptr<Assessor>> {
      const Objective& objective = context.objectives.at(0);
      const std::string name = args["wrapped"];
      const auto step_attr = step_attr_in(args);
      std::unique_ptr<Assessor> wrapped;
      if (!name.empty()) {
        json own = {{"optimize_mode", objective.maximize ? "maximize" : "minimize"}};
        if (step_attr) own["step_attr"] = *step_attr;
        wrapped = TRY(make_assessor(builtin_assessors(), name, own, context, rng()));
      }
      return std::make_unique<patient::Patient>(
          objective,
          patient::Options{.patience = args["patience"].get<std::size_t>(),
                           .min_delta = args["min_delta"],
                           .step_attr = step_attr},
          std::move(wrapped));
    }};

}  // namespace attune
