// Percentile and median pruning of Optuna: stops a trial at step n if its best result so far is
// worse than a percentile of the results that completed trials had at step n. (Medianstop compares
// with averages up to step n.)
//
// Source: Optuna, PercentilePruner and MedianPruner; Golovin et al., "Google Vizier: A Service for
// Black-Box Optimization" (KDD 2017), section 3.2.1, has the rule with averages.
//
// As in Optuna: a trial with no result but NaN is stopped; infinite results are numbers like
// others; NaN of completed trials are left out, but count for n_min_trials. Percentiles lie between
// neighbours as in numpy, and in the direction of the metric, so that ties are decided alike.
//
// Cost: a report is O(log trials). The end of a completed trial is O(log trials) for each of its
// steps. Memory: 8 bytes for each of these.
#include "math/percentile.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numeric>

#include "assessors/live_curves.h"
#include "assessors/registry.h"
#include "assessors/step_attr.h"
#include "base/saved_numbers.h"

namespace attune {
namespace percentile_pruner {
namespace {

struct Options {
  double percentile;
  std::optional<std::string> step_attr;
  std::int64_t startup_trials, warmup, interval, min_trials;
};

class Percentile final : public Assessor {
 public:
  Percentile(const Objective& objective, const Options& options)
      : maximize_(objective.maximize), options_(options), curves_(objective, options.step_attr) {}

  Decision assess(TrialId trial, std::span<const Report> reports) override {
    return curves_.update(trial, reports,
                          [&](const LiveCurves::Curve& curve) { return judge(trial, curve); });
  }

  void trial_end(TrialId trial, End end) override {
    const auto curve = curves_.remove(trial);
    if (!curve || end != End::completed) return;
    ++completed_;
    for (std::size_t i = 0; i < curve->steps.size(); ++i) {
      Step& step = steps_[curve->steps[i]];
      ++step.reported;
      if (!std::isnan(curve->values[i])) step.values.insert(curve->values[i]);
    }
  }

  json save() const override {
    json values = json::array();
    std::vector<double> numbers, reported;
    for (const auto& [number, step] : steps_) {
      numbers.push_back(number);
      values.push_back(save_numbers(step.values.values()));
      reported.push_back(static_cast<double>(step.reported));
    }
    return {{"live", curves_.save()},
            {"completed", completed_},
            {"steps",
             {{"at", save_numbers(numbers)},
              {"values", values},
              {"reported", save_numbers(reported)}}}};
  }

  Result<void> load(const json& state) override {
    auto curves = TRY(curves_.loaded(TRY(array_at(state, "live"))));
    const std::int64_t completed = TRY(integer_at(state, "completed"));
    // Before step_attr the columns stood in the state itself, for steps 0, 1, 2, ...
    const bool former = state.contains("reported");
    const json columns = former ? state : TRY(object_at(state, "steps"));
    const json values = TRY(array_at(columns, "values"));
    const auto reported = TRY(numbers_at(columns, "reported"));
    std::vector<double> at(reported.size());
    std::iota(at.begin(), at.end(), 0);
    if (!former) at = TRY(numbers_at(columns, "at"));
    if (values.size() != reported.size() || at.size() != reported.size() || completed < 0) {
      return fail("Percentile: missing columns");
    }
    std::map<double, Step> steps;
    for (std::size_t i = 0; i < reported.size(); ++i) {
      const auto all = TRY(numbers(values[i]));
      if (!is_index(reported[i], static_cast<double>(completed) + 1) ||
          static_cast<double>(all.size()) > reported[i] ||
          std::ranges::any_of(all, [](double x) { return std::isnan(x); }) || !is_whole(at[i]) ||
          steps.contains(at[i])) {
        return fail("Percentile: impossible results of a step");
      }
      Step& step = steps[at[i]];
      step.reported = static_cast<std::int64_t>(reported[i]);
      for (const double x : all) step.values.insert(x);
    }
    curves_ = std::move(curves);
    completed_ = completed;
    steps_ = std::move(steps);
    return {};
  }

 private:
  struct Step {
    std::int64_t reported = 0;  // by completed trials, NaN included
    SortedNumbers values;       // in the units of the metric, without NaN
  };

  Decision judge(TrialId trial, const LiveCurves::Curve& curve) const {
    Decision go{trial, Action::keep_going, {}};
    const double step = curve.steps.back();
    if (completed_ == 0 || completed_ < options_.startup_trials ||
        !opens_interval(curve.steps, options_.warmup, options_.interval)) {
      return go;
    }
    const double best = maximize_ ? curve.highest : curve.lowest;
    if (std::isnan(best)) {
      return {trial, Action::stop, fmt::format("step {}: no result so far is a number", step)};
    }
    const auto others = steps_.find(step);
    if (others == steps_.end() || others->second.values.empty() ||
        others->second.reported < options_.min_trials) {
      return go;
    }
    const SortedNumbers& values = others->second.values;
    const double percent = maximize_ ? 100 - options_.percentile : options_.percentile;
    const double limit = percentile(values, percent);
    if (!(maximize_ ? best < limit : best > limit)) return go;  // also if the limit is NaN
    return {trial, Action::stop,
            fmt::format("step {}: best {:.6g} is {} {:.6g}, the percentile {:.6g} of {} completed "
                        "trials",
                        step, best, maximize_ ? "below" : "above", limit, percent, values.size())};
  }

  bool maximize_;
  Options options_;
  LiveCurves curves_;
  std::int64_t completed_ = 0;
  std::map<double, Step> steps_;
};

Argument count(std::string name, std::int64_t fallback, double low, std::string help) {
  return {.name = std::move(name),
          .type = Argument::Type::integer,
          .fallback = fallback,
          .help = std::move(help),
          .low = low,
          .high = 1e9};
}

std::vector<Argument> counts() {
  return {count("n_startup_trials", 5, 0, "stop nothing until so many trials have completed"),
          count("n_warmup_steps", 0, 0, "stop no trial before this step; steps count from 0"),
          count("interval_steps", 1, 1, "steps between two judgements of a trial"),
          count("n_min_trials", 1, 1, "judge a step only if so many completed trials have it"),
          step_attr_argument()};
}

std::vector<Argument> with_percentile() {
  std::vector<Argument> arguments = {
      {.name = "percentile",
       .type = Argument::Type::number,
       .fallback = 25.0,
       .help = "the share of completed trials, in percent, among which a trial must be to go on",
       .low = 0,
       .high = 100}};
  for (Argument& argument : counts()) arguments.push_back(std::move(argument));
  return arguments;
}

std::unique_ptr<Assessor> make(double percentile, const json& args, const Context& context) {
  return std::make_unique<Percentile>(context.objectives.at(0),
                                      Options{.percentile = percentile,
                                              .step_attr = step_attr_in(args),
                                              .startup_trials = args["n_startup_trials"],
                                              .warmup = args["n_warmup_steps"],
                                              .interval = args["interval_steps"],
                                              .min_trials = args["n_min_trials"]});
}

}  // namespace
}  // namespace percentile_pruner

extern const AssessorEntry percentile_entry = {
    .name = "Percentile",
    .aliases = {"PercentilePruner"},
    .summary = "stops a trial whose best result is worse than a percentile at the same step",
    .arguments = percentile_pruner::with_percentile(),
    .maximizes = true,
    .make = [](const json& args, const Context& context, Rng) -> Result<std::unique_ptr<Assessor>> {
      return percentile_pruner::make(args["percentile"], args, context);
    }};

extern const AssessorEntry median_pruner_entry = {
    .name = "MedianPruner",
    .aliases = {},
    .summary = "stops a trial whose best result is worse than the median at the same step",
    .arguments = percentile_pruner::counts(),
    .maximizes = true,
    .make = [](const json& args, const Context& context, Rng) -> Result<std::unique_ptr<Assessor>> {
      return percentile_pruner::make(50, args, context);
    }};

}  // namespace attune
