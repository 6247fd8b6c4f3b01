#include "tuners/parts/promotion_arguments.h"

#include <algorithm>

#include "rungs/level_arguments.h"
#include "rungs/resource.h"

namespace attune {
namespace {

constexpr double kMostPromotionResource = 1e9;
constexpr std::size_t kMostPromotionRungs = 1000;  // each question passes over all of them

}  // namespace

std::vector<Argument> promotion_arguments() {
  return {{.name = "resource_attr",
           .type = Argument::Type::text,
           .fallback = kTrainingIteration,
           .help = "the metric that says how far a trial is; by default its reports are counted"},
          {.name = "max_t",
           .type = Argument::Type::integer,
           .fallback = 100,
           .help = "the resource at which a trial has completed",
           .low = 1,
           .high = kMostPromotionResource},
          {.name = "grace_period",
           .type = Argument::Type::integer,
           .fallback = 1,
           .help = "the resource of the lowest rung",
           .low = 1,
           .high = kMostPromotionResource},
          {.name = "reduction_factor",
           .type = Argument::Type::number,
           .fallback = 3,
           .help = "a rung has so many times the resource of the one below it",
           .low = 2,
           .high = kMostPromotionResource},
          {.name = "rung_increment",
           .type = Argument::Type::integer,
           .fallback = nullptr,
           .help = "a rung has so much more resource than the one below it",
           .low = 1,
           .high = kMostPromotionResource},
          {.name = "rung_levels",
           .type = Argument::Type::text,
           .fallback = nullptr,
           .help = "the resources of all rungs, as in \"1,3,9\""},
          {.name = "brackets",
           .type = Argument::Type::integer,
           .fallback = 1,
           .help = "new trials are divided among so many brackets; each starts one rung higher",
           .low = 1,
           .high = static_cast<double>(kMostPromotionRungs)},
          Searcher::argument()};
}

Result<PromotionTuner::Options> promotion_options(const std::string& owner, const json& args,
                                                  const Context& context) {
  PromotionTuner::Options options;
  options.resource = args["resource_attr"];
  options.brackets = args["brackets"];
  options.rungs.levels = TRY(rung_levels(owner, args, kMostPromotionRungs));
  options.rungs.max_t = args["max_t"];
  options.rungs.objectives = static_cast<std::size_t>(
      std::ranges::count_if(context.objectives, [](const Objective& each) { return !each.limit; }));
  options.rungs.maximise = options.rungs.objectives == 1 && context.objectives.at(0).maximize;
  return options;
}

Result<std::unique_ptr<Tuner>> make_promotion_tuner(const std::string& owner, const json& args,
                                                    PromotionTuner::Options options,
                                                    const TunerContext& context, const Rng& rng) {
  auto searcher = TRY(Searcher::make(owner, args["searcher"], context, rng));
  return std::make_unique<PromotionTuner>(std::move(options), std::move(searcher), context, rng);
}

}  // namespace attune
