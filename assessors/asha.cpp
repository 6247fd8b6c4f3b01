// ASHA: asynchronous successive halving that stops trials, as HyperbandScheduler of Syne Tune 0.13
// with the type "stopping".
//
// Li et al., "A System for Massively Parallel Hyperparameter Tuning" (MLSys 2020), in the variant
// without promotions. The rule stands in rungs/stopping_syne.h. It differs from AsyncHyperBand: a
// result is compared with a quantile that includes it; rungs lie at integers; brackets share them.
#include "assessors/registry.h"
#include "assessors/rung_assessor.h"
#include "rungs/stopping_arguments.h"

namespace attune {
namespace asha {
namespace {

Result<std::unique_ptr<Assessor>> make(const json& args, const Context& context, Rng rng) {
  const Objective& objective = context.objectives.at(0);
  SyneStoppingOptions options = TRY(syne_stopping_options("ASHA", args, objective.maximize));
  return std::make_unique<RungAssessor>(std::make_unique<SyneStoppingRule>(std::move(options)),
                                        std::vector{objective},
                                        args.at("resource_attr").get<std::string>(), rng);
}

}  // namespace
}  // namespace asha

extern const AssessorEntry asha_entry = {
    .name = "ASHA",
    .aliases = {},
    .summary = "stops a trial at a rung unless it is among the best there; as in Syne Tune",
    .arguments = syne_stopping_arguments(),
    .maximizes = false,
    .make = asha::make};

}  // namespace attune
