// RUSH: ASHA with known good configurations, whose results others must reach.
//
// Zappella, Salinas, Archambeau, "A resource-efficient method for repeated HPO and NAS problems"
// (AutoML workshop at ICML 2021). The rule is "rush_stopping" of Syne Tune 0.13
// (rungs/stopping_syne.h). The good configurations come from former experiments. They must be the
// first ones that the tuner proposes.
#include "assessors/registry.h"
#include "assessors/rung_assessor.h"
#include "rungs/stopping_arguments.h"

namespace attune {
namespace rush {
namespace {

std::vector<Argument> arguments() {
  std::vector<Argument> all = syne_stopping_arguments();
  all.push_back({.name = "num_threshold_candidates",
                 .type = Argument::Type::integer,
                 .fallback = 0,
                 .help = "so many trials come first that are known to be good; 0 makes it ASHA",
                 .low = 0,
                 .high = 1e9});
  return all;
}

Result<std::unique_ptr<Assessor>> make(const json& args, const Context& context, Rng rng) {
  const Objective& objective = context.objectives.at(0);
  SyneStoppingOptions options = TRY(syne_stopping_options("RUSH", args, objective.maximize));
  options.threshold_candidates = args.at("num_threshold_candidates").get<TrialId>();
  return std::make_unique<RungAssessor>(std::make_unique<SyneStoppingRule>(std::move(options)),
                                        std::vector{objective},
                                        args.at("resource_attr").get<std::string>(), rng);
}

}  // namespace
}  // namespace rush

extern const AssessorEntry rush_entry = {
    .name = "RUSH",
    .aliases = {},
    .summary = "ASHA that also stops what is worse than configurations known to be good",
    .arguments = rush::arguments(),
    .maximizes = false,
    .make = rush::make};

}  // namespace attune
