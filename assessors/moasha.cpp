// MOASHA: AsyncHyperBand for several objectives, as in Syne Tune. The rule stands in
// rungs/stopping_moasha.h, the orders of results in rungs/priorities.h.
//
// Schmucker, Donini, Zafar, Salinas, Archambeau, "Multi-objective Asynchronous Successive Halving"
// (2021), algorithm 1.
#include "assessors/registry.h"
#include "assessors/rung_assessor.h"
#include "rungs/priorities.h"
#include "rungs/stopping_arguments.h"
#include "rungs/stopping_moasha.h"

namespace attune {
namespace moasha {
namespace {

std::vector<Argument> arguments() {
  std::vector<Argument> all = milestone_arguments(3);
  all.push_back({.name = "priority",
                 .type = Argument::Type::choice,
                 .fallback = "nondominated",
                 .help = "results in order: by trade-off, by the mean of the metrics, by the first",
                 .choices = {"nondominated", "linear", "fixed"}});
  return all;
}

Result<std::unique_ptr<Assessor>> make(const json& args, const Context& context, Rng rng) {
  const MilestoneOptions options = TRY(milestone_options("MOASHA", args));
  const RankOfLast rank = args.at("priority") == "linear"  ? better_by_mean
                          : args.at("priority") == "fixed" ? better_by_first
                                                           : better_by_trade_off;
  return std::make_unique<RungAssessor>(
      std::make_unique<MoashaRule>(options, context.objectives, rank), context.objectives,
      args.at("time_attr").get<std::string>(), rng);
}

}  // namespace
}  // namespace moasha

extern const AssessorEntry moasha_entry = {
    .name = "MOASHA",
    .aliases = {},
    .summary = "AsyncHyperBand for several objectives: the best trade-offs go on",
    .arguments = moasha::arguments(),
    .maximizes = false,
    .make = moasha::make};

}  // namespace attune
