// The arguments of the tuners of population based training.
#include <fmt/format.h>

#include <algorithm>

#include "rungs/resource.h"
#include "tuners/parts/explore_tuner.h"

namespace attune {

std::vector<Argument> population_arguments() {
  return {{.name = "time_attr",
           .type = Argument::Type::text,
           .fallback = kTrainingIteration,
           .help = "the metric that says how much a trial has trained"},
          {.name = "perturbation_interval",
           .type = Argument::Type::number,
           .fallback = 60,
           .help = "training between two judgements of a trial; 60 is Ray's number, for seconds",
           .low = 0,
           .high = 1e15},
          {.name = "burn_in_period",
           .type = Argument::Type::number,
           .fallback = 0,
           .help = "training before the first judgement",
           .low = 0,
           .high = 1e15},
          {.name = "quantile_fraction",
           .type = Argument::Type::number,
           .fallback = 0.25,
           .help = "share of the trials that copy others, and share of those that are copied",
           .low = 0,
           .high = 0.5},
          {.name = "synch",
           .type = Argument::Type::boolean,
           .fallback = false,
           .help = "judge all trials together, when the last one has trained as much"},
          {.name = "population_size",
           .type = Argument::Type::integer,
           .fallback = nullptr,
           .help = "number of trials; null: as many as run at once, or 8",
           .low = 1,
           .high = 10000},
          {.name = "max_t",
           .type = Argument::Type::number,
           .fallback = nullptr,
           .help = "training after which a trial is complete; null: trials end by themselves",
           .low = 0,
           .high = 1e15},
          {.name = "mutations",
           .type = Argument::Type::text,
           .fallback = nullptr,
           .help = "names of the parameters that change, with commas between; null: all"}};
}

Result<PopulationSettings> population_settings(const std::string& owner, const json& args,
                                               const Context& context) {
  PopulationSettings settings{.owner = owner};
  settings.rule = {.interval = args["perturbation_interval"].get<double>(),
                   .burn_in = args["burn_in_period"].get<double>(),
                   .fraction = args["quantile_fraction"].get<double>(),
                   .synchronous = args["synch"].get<bool>()};
  if (!(settings.rule.interval > 0)) {
    return fail(owner + ".perturbation_interval: a number above 0 expected");
  }
  settings.time_attr = args["time_attr"].get<std::string>();
  if (!args["max_t"].is_null()) settings.max_t = args["max_t"].get<double>();
  if (!args["mutations"].is_null()) settings.mutations = args["mutations"].get<std::string>();
  const int size = args["population_size"].is_null() ? context.concurrency.value_or(8)
                                                     : args["population_size"].get<int>();
  // Members that never start would keep a synchronous population waiting.
  settings.size =
      static_cast<std::size_t>(std::clamp(size, 1, std::max(context.max_trials.value_or(size), 1)));
  settings.objective = context.objectives.at(0);
  return settings;
}

Result<Mutable> mutable_in(const PopulationSettings& settings, const Space& space) {
  if (!settings.mutations) return Mutable(space.params.size(), true);
  auto which = mutable_parameters(space, *settings.mutations);
  if (which) return which;
  return fail(fmt::format("search_space: {} needs the parameter \"{}\", which \"mutations\" names",
                          settings.owner, which.error().message));
}

}  // namespace attune
