// AsyncHyperBand: asynchronous successive halving that stops trials, as AsyncHyperBandScheduler
// (ASHAScheduler) of Ray Tune. With the rule "rank", it is AsynchronousSuccessiveHalving of Syne
// Tune 0.15, whose reduction_factor is 3 by default.
//
// Li et al., "A System for Massively Parallel Hyperparameter Tuning" (MLSys 2020), in the variant
// without promotions. The rules stand in rungs/stopping_ray.h.
#include "assessors/registry.h"
#include "assessors/rung_assessor.h"
#include "rungs/stopping_arguments.h"

namespace attune {
namespace async_hyperband {
namespace {

std::vector<Argument> arguments() {
  std::vector<Argument> all = milestone_arguments(4);
  all.push_back({.name = "stop_last_trials",
                 .type = Argument::Type::boolean,
                 .fallback = true,
                 .help = "whether a trial is stopped at max_t"});
  all.push_back({.name = "rule",
                 .type = Argument::Type::choice,
                 .fallback = "percentile",
                 .help = "how results are compared: as in Ray Tune, or (rank) as in Syne Tune 0.15",
                 .choices = {"percentile", "rank"}});
  return all;
}

Result<std::unique_ptr<Assessor>> make(const json& args, const Context& context, Rng rng) {
  MilestoneOptions options = TRY(milestone_options("AsyncHyperBand", args));
  options.stop_last_trials = args.at("stop_last_trials").get<bool>();
  const Objective& objective = context.objectives.at(0);
  const auto rule = args.at("rule") == "rank" ? MilestoneRule::rank : MilestoneRule::percentile;
  return std::make_unique<RungAssessor>(
      std::make_unique<AsyncHyperBandRule>(options, rule, objective.maximize),
      std::vector{objective}, args.at("time_attr").get<std::string>(), rng);
}

}  // namespace
}  // namespace async_hyperband

extern const AssessorEntry async_hyperband_entry = {
    .name = "AsyncHyperBand",
    .aliases = {"AsyncHyperBandScheduler", "ASHAScheduler"},
    .summary = "stops a trial at a rung unless it is among the best there; as in Ray Tune",
    .arguments = async_hyperband::arguments(),
    .maximizes = false,
    .make = async_hyperband::make};

}  // namespace attune
