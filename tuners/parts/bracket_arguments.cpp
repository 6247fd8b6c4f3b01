#include "tuners/parts/bracket_arguments.h"

#include <utility>

#include "rungs/resource.h"

namespace attune {

Argument resource_argument(const std::string& name) {
  return {.name = name,
          .type = Argument::Type::text,
          .fallback = kTrainingIteration,
          .help = "the metric that says how much of the resource a trial has used"};
}

Result<BracketTuner::Setup> bracket_setup(const std::string& owner, const json& args,
                                          const TunerContext& context, const Rng& rng,
                                          const std::string& resource_argument, double max_t) {
  auto searcher = TRY(Searcher::make(owner, args["searcher"].get<std::string>(), context, rng));
  return BracketTuner::Setup{.searcher = std::move(searcher),
                             .objective = context.objectives.at(0),
                             .resource_attr = args[resource_argument].get<std::string>(),
                             .max_t = max_t,
                             .max_trials = context.max_trials,
                             .pauses = context.pauses};
}

std::vector<Argument> sync_bracket_arguments() {
  return {resource_argument("resource_attr"),
          {.name = "max_t",
           .type = Argument::Type::integer,
           .fallback = 81,
           .help = "the largest resource, that of the top rung",
           .low = 1,
           .high = 1e9},
          {.name = "grace_period",
           .type = Argument::Type::integer,
           .fallback = 1,
           .help = "the resource of the lowest rung",
           .low = 1,
           .high = 1e9},
          {.name = "reduction_factor",
           .type = Argument::Type::number,
           .fallback = 3,
           .help = "how many times more resource the next rung has, and fewer trials",
           .low = 2,
           .high = 1e6},
          {.name = "brackets",
           .type = Argument::Type::integer,
           .fallback = nullptr,
           .help = "how many brackets follow each other; null: as many as there are rungs",
           .low = 1,
           .high = 1e6},
          Searcher::argument()};
}

Result<std::vector<RungSizes>> sync_bracket_sizes(const std::string& owner, const json& args) {
  const auto max = args["max_t"].get<std::int64_t>();
  const auto min = args["grace_period"].get<std::int64_t>();
  if (min > max) {
    return fail(owner + ".grace_period must be at most max_t, which is " + std::to_string(max));
  }
  std::optional<std::size_t> most;
  if (!args["brackets"].is_null()) most = args["brackets"].get<std::size_t>();
  return geometric_brackets(min, max, args["reduction_factor"].get<double>(), most);
}

}  // namespace attune
