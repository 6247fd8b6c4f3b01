// Threshold: stops a trial whose last result is NaN, or beyond a bound. Optuna, ThresholdPruner.
//
// The bounds are in the units of the metric, whatever the direction. Without a bound (an error in
// Optuna) only NaN is beyond. An infinite result is beyond if there is a bound on its side.
#include <fmt/format.h>

#include <cmath>

#include "assessors/live_curves.h"
#include "assessors/registry.h"
#include "assessors/step_attr.h"
#include "base/saved_numbers.h"

namespace attune {
namespace threshold {
namespace {

struct Options {
  double lower, upper;
  std::int64_t warmup, interval;
};

class Threshold final : public Assessor {
 public:
  Threshold(Objective objective, std::optional<std::string> step_attr, const Options& options)
      : curves_(std::move(objective), std::move(step_attr)), options_(options) {}

  Decision assess(TrialId trial, std::span<const Report> reports) override {
    return curves_.update(trial, reports,
                          [&](const LiveCurves::Curve& curve) { return judge(trial, curve); });
  }
  void trial_end(TrialId trial, End) override { curves_.remove(trial); }

  json save() const override { return {{"live", curves_.save()}}; }
  Result<void> load(const json& state) override {
    curves_ = TRY(curves_.loaded(TRY(array_at(state, "live"))));
    return {};
  }

 private:
  Decision judge(TrialId trial, const LiveCurves::Curve& curve) const {
    const double value = curve.values.back();
    const auto stop = [&](const std::string& why) {
      return Decision{trial, Action::stop, fmt::format("step {}: {}", curve.steps.back(), why)};
    };
    const auto beyond = [&](const char* side, double bound) {
      return stop(fmt::format("{:.6g} is {} {:.6g}", value, side, bound));
    };
    if (!opens_interval(curve.steps, options_.warmup, options_.interval)) {
      return {trial, Action::keep_going, {}};
    }
    if (std::isnan(value)) return stop("the result is not a number");
    if (value < options_.lower) return beyond("below", options_.lower);
    if (value > options_.upper) return beyond("above", options_.upper);
    return {trial, Action::keep_going, {}};
  }

  LiveCurves curves_;
  Options options_;
};

}  // namespace
}  // namespace threshold

extern const AssessorEntry threshold_entry = {
    .name = "Threshold",
    .aliases = {"ThresholdPruner"},
    .summary = "stops a trial whose result is beyond a bound, or not a number",
    .arguments = {{.name = "lower",
                   .type = Argument::Type::number,
                   .fallback = {},
                   .help = "stop below it; null: no bound"},
                  {.name = "upper",
                   .type = Argument::Type::number,
                   .fallback = {},
                   .help = "stop above it; null: no bound"},
                  {.name = "n_warmup_steps",
                   .type = Argument::Type::integer,
                   .fallback = 0,
                   .help = "stop no trial before this step; steps count from 0",
                   .low = 0,
                   .high = 1e9},
                  {.name = "interval_steps",
                   .type = Argument::Type::integer,
                   .fallback = 1,
                   .help = "steps between two judgements of a trial",
                   .low = 1,
                   .high = 1e9},
                  step_attr_argument()},
    .maximizes = true,
    .make = [](const json& args, const Context& context, Rng) -> Result<std::unique_ptr<Assessor>> {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      const threshold::Options options = {
          .lower = args["lower"].is_null() ? -kInfinity : args["lower"].get<double>(),
          .upper = args["upper"].is_null() ? kInfinity : args["upper"].get<double>(),
          .warmup = args["n_warmup_steps"],
          .interval = args["interval_steps"]};
      if (options.lower > options.upper) {
        return fail_at("Threshold.lower", "it must not be above \"upper\"");
      }
      return std::make_unique<threshold::Threshold>(context.objectives.at(0), step_attr_in(args),
                                                    options);
    }};

}  // namespace attune
