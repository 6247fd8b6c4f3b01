// HyperbandPruner: several brackets of SuccessiveHalving, which begin to stop trials one rung later
// each, as HyperbandPruner of Optuna. The rule stands in rungs/stopping_optuna.h.
//
// Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar, "Hyperband" (JMLR 2018), algorithm 1.
//
// Optuna chooses a trial's bracket by a hash of the study's name and the trial's number; here it is
// drawn with the same probabilities. Optuna's max_resource "auto" does not exist here. The tuner
// sees the results of all brackets, where Optuna shows a sampler those of one.
#include "assessors/registry.h"
#include "assessors/rung_assessor.h"
#include "assessors/step_attr.h"
#include "rungs/stopping_optuna.h"

namespace attune {
namespace hyperband_pruner {
namespace {

Result<std::unique_ptr<Assessor>> make(const json& args, const Context& context, Rng rng) {
  const auto min_resource = args.at("min_resource").get<double>();
  const auto max_resource = args.at("max_resource").get<double>();
  if (min_resource > max_resource) {
    return fail_at("HyperbandPruner.min_resource", "must be at most max_resource");
  }
  const Objective& objective = context.objectives.at(0);
  OptunaHalvingOptions options = hyperband_pruner_options(
      min_resource, max_resource, args.at("reduction_factor").get<double>());
  options.bootstrap_count = args.at("bootstrap_count").get<std::size_t>();
  options.maximise = objective.maximize;
  return std::make_unique<RungAssessor>(std::make_unique<OptunaHalvingRule>(std::move(options)),
                                        std::vector{objective}, step_attr_in(args), rng);
}

}  // namespace
}  // namespace hyperband_pruner

extern const AssessorEntry hyperband_pruner_entry = {
    .name = "HyperbandPruner",
    .aliases = {},
    .summary = "brackets of SuccessiveHalving that begin to stop trials one rung later each",
    .arguments = {{.name = "min_resource",
                   .type = Argument::Type::integer,
                   .fallback = 1,
                   .help = "the lowest rung is at this number of a report, counted from 0",
                   .low = 1,
                   .high = 1e9},
                  {.name = "max_resource",
                   .type = Argument::Type::integer,
                   .fallback = 81,
                   .help = "reports of a full trial; more make more brackets, and end no trial",
                   .low = 1,
                   .high = 1e9},
                  {.name = "reduction_factor",
                   .type = Argument::Type::integer,
                   .fallback = 3,
                   .help = "one in so many trials goes on at a rung, to so many times its reports",
                   .low = 2,
                   .high = 1e6},
                  {.name = "bootstrap_count",
                   .type = Argument::Type::integer,
                   .fallback = 0,
                   .help = "the first trials of a rung, so many, are stopped there in any case",
                   .low = 0,
                   .high = 1e9},
                  step_attr_argument()},
    .maximizes = false,
    .make = hyperband_pruner::make};

}  // namespace attune
