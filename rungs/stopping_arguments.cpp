#include "rungs/stopping_arguments.h"

#include <fmt/format.h>

#include "rungs/level_arguments.h"
#include "rungs/resource.h"

namespace attune {
namespace stopping_arguments {
namespace {

constexpr double kMostResource = 1e12;
constexpr std::size_t kMostLevels = 10'000;

Argument attribute(std::string name) {
  return {.name = std::move(name),
          .type = Argument::Type::text,
          .fallback = kTrainingIteration,
          .help = "the metric that says how much of its resource a trial has used"};
}

Argument brackets() {
  return {.name = "brackets",
          .type = Argument::Type::integer,
          .fallback = 1,
          .help = "number of brackets; each one more begins to stop trials one rung later",
          .low = 1,
          .high = 100};
}

}  // namespace
}  // namespace stopping_arguments

std::vector<Argument> milestone_arguments(double reduction_factor) {
  return {stopping_arguments::attribute("time_attr"),
          {.name = "max_t",
           .type = Argument::Type::number,
           .fallback = 100,
           .help = "the full resource of a trial",
           .low = 1e-9,
           .high = stopping_arguments::kMostResource},
          {.name = "grace_period",
           .type = Argument::Type::number,
           .fallback = 1,
           .help = "the resource of the lowest rung; no trial is stopped before it",
           .low = 1e-9,
           .high = stopping_arguments::kMostResource},
          {.name = "reduction_factor",
           .type = Argument::Type::number,
           .fallback = reduction_factor,
           .help = "one in so many trials goes on at a rung, to so many times its resource",
           .low = 1.01,
           .high = 1e6},
          stopping_arguments::brackets()};
}

Result<MilestoneOptions> milestone_options(std::string_view owner, const json& args) {
  const MilestoneOptions options = {.max_t = args.at("max_t").get<double>(),
                                    .grace_period = args.at("grace_period").get<double>(),
                                    .reduction_factor = args.at("reduction_factor").get<double>(),
                                    .brackets = args.at("brackets").get<std::size_t>()};
  if (options.grace_period > options.max_t) {
    return fail_at(fmt::format("{}.grace_period", owner), "must be at most max_t");
  }
  return options;
}

std::vector<Argument> syne_stopping_arguments() {
  return {stopping_arguments::attribute("resource_attr"),
          {.name = "max_t",
           .type = Argument::Type::integer,
           .fallback = 100,
           .help = "the full resource of a trial",
           .low = 1,
           .high = stopping_arguments::kMostResource},
          {.name = "grace_period",
           .type = Argument::Type::integer,
           .fallback = 1,
           .help = "the resource of the lowest rung",
           .low = 1,
           .high = stopping_arguments::kMostResource},
          {.name = "reduction_factor",
           .type = Argument::Type::number,
           .fallback = 3,
           .help = "the resource of a rung divided by that of the rung below",
           .low = 2,
           .high = 1e6},
          {.name = "rung_increment",
           .type = Argument::Type::integer,
           .fallback = nullptr,
           .help = "a rung at grace_period and after each so much more, instead of the factor",
           .low = 1,
           .high = stopping_arguments::kMostResource},
          {.name = "rung_levels",
           .type = Argument::Type::text,
           .fallback = nullptr,
           .help = "the resources of all rungs, as in 1,3,9, instead of the three above"},
          stopping_arguments::brackets()};
}

Result<SyneStoppingOptions> syne_stopping_options(std::string_view owner, const json& args,
                                                  bool maximise) {
  SyneStoppingOptions options;
  options.max_t = args.at("max_t").get<std::int64_t>();
  options.levels = TRY(rung_levels(owner, args, stopping_arguments::kMostLevels));
  options.brackets = args.at("brackets").get<std::size_t>();
  options.maximise = maximise;
  return options;
}

}  // namespace attune
