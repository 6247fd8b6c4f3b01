// SuccessiveHalving: asynchronous successive halving that stops trials, as SuccessiveHalvingPruner
// of Optuna. The rule stands in rungs/stopping_optuna.h.
//
// Li et al., "A System for Massively Parallel Hyperparameter Tuning" (MLSys 2020), algorithm 2.
//
// As in Optuna the resource of a report is its step. Without step_attr that is its number, counted
// from 0: with the defaults a trial is judged at its reports number 1, 4, 16, ..., which are the
// second, fifth, seventeenth. Optuna's min_resource "auto" does not exist here.
#include "assessors/registry.h"
#include "assessors/rung_assessor.h"
#include "assessors/step_attr.h"
#include "rungs/stopping_optuna.h"

namespace attune {
namespace successive_halving {
namespace {

Result<std::unique_ptr<Assessor>> make(const json& args, const Context& context, Rng rng) {
  const Objective& objective = context.objectives.at(0);
  OptunaHalvingOptions options{
      .min_resource = args.at("min_resource").get<double>(),
      .reduction_factor = args.at("reduction_factor").get<double>(),
      .early_stopping_rates = {args.at("min_early_stopping_rate").get<std::size_t>()},
      .bootstrap_count = args.at("bootstrap_count").get<std::size_t>(),
      .maximise = objective.maximize};
  return std::make_unique<RungAssessor>(std::make_unique<OptunaHalvingRule>(std::move(options)),
                                        std::vector{objective}, step_attr_in(args), rng);
}

}  // namespace
}  // namespace successive_halving

extern const AssessorEntry successive_halving_entry = {
    .name = "SuccessiveHalving",
    .aliases = {"SuccessiveHalvingPruner"},
    .summary = "stops a trial at a rung unless it is among the best there; as in Optuna",
    .arguments = {{.name = "min_resource",
                   .type = Argument::Type::integer,
                   .fallback = 1,
                   .help = "the lowest rung is at this number of a report, counted from 0",
                   .low = 1,
                   .high = 1e9},
                  {.name = "reduction_factor",
                   .type = Argument::Type::integer,
                   .fallback = 4,
                   .help = "one in so many trials goes on at a rung, to so many times its reports",
                   .low = 2,
                   .high = 1e6},
                  {.name = "min_early_stopping_rate",
                   .type = Argument::Type::integer,
                   .fallback = 0,
                   .help = "leaves out so many of the lowest rungs",
                   .low = 0,
                   .high = 100},
                  {.name = "bootstrap_count",
                   .type = Argument::Type::integer,
                   .fallback = 0,
                   .help = "the first trials of a rung, so many, are stopped there in any case",
                   .low = 0,
                   .high = 1e9},
                  step_attr_argument()},
    .maximizes = false,
    .make = successive_halving::make};

}  // namespace attune
