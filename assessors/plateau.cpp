// Plateau: ends a trial whose last results hardly differ: their standard deviation is below `std`.
// Ray Tune, TrialPlateauStopper.
//
// Such a trial is not bad; it has nothing more to gain. So it counts as completed, with its last
// result. (A trial that is only stopped has no final result, and a tuner would learn nothing.)
// A window with a result that is not finite is no plateau, as in Ray.
#include <fmt/format.h>

#include <cmath>

#include "assessors/live_curves.h"
#include "assessors/registry.h"
#include "base/saved_numbers.h"
#include "math/pairwise_sum.h"

namespace attune {
namespace plateau {
namespace {

// Of a whole population, as numpy computes it.
double deviation(std::span<const double> values) {
  const double center = mean(values);
  std::vector<double> squares;
  for (const double x : values) squares.push_back((x - center) * (x - center));
  return std::sqrt(mean(squares));
}

struct Options {
  double std;
  std::size_t num_results, grace_period;
  std::optional<double> threshold;
};

class Plateau final : public Assessor {
 public:
  Plateau(const Objective& objective, const Options& options)
      : maximize_(objective.maximize), curves_(objective), options_(options) {}

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
    Decision go{trial, Action::keep_going, {}};
    const std::size_t n = curve.values.size();
    if (n < options_.grace_period || n < options_.num_results) return go;
    const double last = curve.values.back();
    if (options_.threshold &&
        (maximize_ ? last < *options_.threshold : last > *options_.threshold)) {
      return go;
    }
    const double spread = deviation(std::span(curve.values).last(options_.num_results));
    if (!(spread < options_.std)) return go;
    return {trial, Action::stop,
            fmt::format("step {}: the last {} results deviate by {:.3g}, less than {:.6g}",
                        curve.steps.back(), options_.num_results, spread, options_.std),
            true};
  }

  bool maximize_;
  LiveCurves curves_;
  Options options_;
};

}  // namespace
}  // namespace plateau

extern const AssessorEntry plateau_entry = {
    .name = "Plateau",
    .aliases = {"TrialPlateauStopper"},
    .summary = "completes a trial whose results no longer change",
    .arguments = {{.name = "std",
                   .type = Argument::Type::number,
                   .fallback = 0.01,
                   .help = "the standard deviation below which results hardly differ",
                   .low = 0},
                  {.name = "num_results",
                   .type = Argument::Type::integer,
                   .fallback = 4,
                   .help = "how many last results are compared",
                   .low = 1,
                   .high = 1e6},
                  {.name = "grace_period",
                   .type = Argument::Type::integer,
                   .fallback = 4,
                   .help = "end no trial before this number of results",
                   .low = 0,
                   .high = 1e9},
                  {.name = "metric_threshold",
                   .type = Argument::Type::number,
                   .fallback = {},
                   .help = "end only trials whose last result is at least as good; null: all"}},
    .maximizes = true,
    .make = [](const json& args, const Context& context, Rng) -> Result<std::unique_ptr<Assessor>> {
      const json& threshold = args["metric_threshold"];
      return std::make_unique<plateau::Plateau>(
          context.objectives.at(0),
          plateau::Options{.std = args["std"],
                           .num_results = args["num_results"].get<std::size_t>(),
                           .grace_period = args["grace_period"].get<std::size_t>(),
                           .threshold = threshold.is_null()
                                            ? std::nullopt
                                            : std::optional(threshold.get<double>())});
    }};

}  // namespace attune
