// Wilcoxon pruning: stops a trial whose results are worse than those of the best trial at the same
// steps, by the signed-rank test. Steps are problems that a configuration is tried on (folds,
// instances, seeds); each trial should take them in the same order. Optuna, WilcoxonPruner.
//
// The best trial is the completed one with the best mean of its results. An assessor is not told
// final results, and Optuna advises to return this mean. As in Optuna:
// - Only steps count at which both trials have a result.
// - A trial is not stopped while its mean is as good as the best trial's, or if it has a result
// that
//   is not finite. A completed trial with one is never the best.
//
// Cost: O(n log n) for a report after n steps, O(n^3) up to 50 steps (20 microseconds at most).
#include "math/wilcoxon.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "assessors/live_curves.h"
#include "assessors/loss.h"
#include "assessors/registry.h"
#include "assessors/step_attr.h"
#include "base/saved_numbers.h"

namespace attune {
namespace wilcoxon_pruner {
namespace {

using Curve = LiveCurves::Curve;

// In the order of the steps, as Optuna does.
double plain_mean(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

bool finite(const Curve& curve) {
  return !curve.values.empty() &&
         std::ranges::all_of(curve.values, [](double x) { return std::isfinite(x); });
}

struct Options {
  double p_threshold;
  std::size_t startup_steps;
  std::optional<std::string> step_attr;
};

class Wilcoxon final : public Assessor {
 public:
  Wilcoxon(const Objective& objective, const Options& options)
      : sign_(sign_of(objective)), options_(options), curves_(objective, options.step_attr) {}

  Decision assess(TrialId trial, std::span<const Report> reports) override {
    return curves_.update(trial, reports, [&](const Curve& curve) { return judge(trial, curve); });
  }

  void trial_end(TrialId trial, End end) override {
    auto curve = curves_.remove(trial);
    if (!curve || end != End::completed || !finite(*curve)) return;
    const double mean = sign_ * plain_mean(curve->values);
    if (!std::isfinite(mean)) return;  // it overflows
    const double best = best_.values.empty() ? mean : sign_ * plain_mean(best_.values);
    // Of equally good trials that with the lowest number counts.
    if (best_.values.empty() || mean < best || (mean == best && trial < best_trial_)) {
      best_ = *std::move(curve);
      best_trial_ = trial;
    }
  }

  json save() const override {
    return {{"live", curves_.save()},
            {"best", best_trial_},
            {"best_steps", save_numbers(best_.steps)},
            {"best_values", save_numbers(best_.values)}};
  }

  Result<void> load(const json& state) override {
    auto curves = TRY(curves_.loaded(TRY(array_at(state, "live"))));
    const TrialId trial = TRY(integer_at(state, "best"));
    Curve best;
    best.steps = TRY(numbers_at(state, "best_steps"));
    best.values = TRY(numbers_at(state, "best_values"));
    const bool ascend =
        std::ranges::adjacent_find(best.steps, std::greater_equal<>()) == best.steps.end();
    if (best.steps.size() != best.values.size() || !ascend ||
        !std::ranges::all_of(best.steps, is_whole) || (!best.steps.empty() && !finite(best))) {
      return fail("Wilcoxon: an impossible curve of the best trial");
    }
    curves_ = std::move(curves);
    best_ = std::move(best);
    best_trial_ = trial;
    return {};
  }

 private:
  Decision judge(TrialId trial, const Curve& curve) const {
    Decision go{trial, Action::keep_going, {}};
    if (best_.values.empty() || !finite(curve)) return go;
    std::vector<double> differences;  // positive: worse than the best trial
    for (std::size_t i = 0, k = 0; i < curve.steps.size(); ++i) {
      while (k < best_.steps.size() && best_.steps[k] < curve.steps[i]) ++k;
      if (k < best_.steps.size() && best_.steps[k] == curve.steps[i]) {
        differences.push_back(sign_ * (curve.values[i] - best_.values[k]));
      }
    }
    const std::size_t n = differences.size();
    if (n < std::max<std::size_t>(2, options_.startup_steps)) return go;
    const double mean = plain_mean(curve.values), best = plain_mean(best_.values);
    if (sign_ * mean <= sign_ * best) return go;
    const double p = signed_rank_test(differences);
    if (!(p < options_.p_threshold)) return go;
    return {trial, Action::stop,
            fmt::format("step {}: mean {:.6g} against {:.6g} of the best trial; worse at {} common "
                        "steps with p = {:.3g}",
                        curve.steps.back(), mean, best, n, p)};
  }

  double sign_;
  Options options_;
  LiveCurves curves_;
  TrialId best_trial_ = 0;
  Curve best_;  // empty: no trial has completed yet
};

}  // namespace
}  // namespace wilcoxon_pruner

extern const AssessorEntry wilcoxon_entry = {
    .name = "Wilcoxon",
    .aliases = {"WilcoxonPruner"},
    .summary =
        "stops a trial that is worse than the best one at the same steps, by a test of ranks",
    .arguments = {{.name = "p_threshold",
                   .type = Argument::Type::number,
                   .fallback = 0.1,
                   .help = "stop where the test's p-value is below; larger stops earlier",
                   .low = 0,
                   .high = 1},
                  {.name = "n_startup_steps",
                   .type = Argument::Type::integer,
                   .fallback = 2,
                   .help = "stop no trial before this number of steps in common with the best",
                   .low = 0,
                   .high = 1e9},
                  step_attr_argument()},
    .maximizes = true,
    .make = [](const json& args, const Context& context, Rng) -> Result<std::unique_ptr<Assessor>> {
      return std::make_unique<wilcoxon_pruner::Wilcoxon>(
          context.objectives.at(0),
          wilcoxon_pruner::Options{.p_threshold = args["p_threshold"],
                                   .startup_steps = args["n_startup_steps"].get<std::size_t>(),
                                   .step_attr = step_attr_in(args)});
    }};

}  // namespace attune
