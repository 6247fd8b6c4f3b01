// ASHA of the promotion type: trials are paused at rungs, and the best of a rung go on when there
// is a free place. (Li et al., "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020,
// algorithm 2.) The assessor of the same name stops trials instead. The tuner is Syne Tune's
// HyperbandScheduler with the type promotion, cost_promotion or rush_promotion. With several
// objectives it is MO-ASHA, by promotion.
#include "tuners/parts/promotion_arguments.h"

namespace attune {
namespace asha_tuner {
namespace {

using Rule = PromotionRungs::Rule;

std::vector<Argument> arguments() {
  std::vector<Argument> all = promotion_arguments();
  all.push_back({.name = "type",
                 .type = Argument::Type::choice,
                 .fallback = "promotion",
                 .help = "which trials of a rung go on: the best; the best within a share of the "
                         "cost; the best that are no worse than the first trials",
                 .choices = {"promotion", "cost_promotion", "rush_promotion"}});
  all.push_back({.name = "cost_attr",
                 .type = Argument::Type::text,
                 .fallback = nullptr,
                 .help = "for cost_promotion: the metric with the cost since the trial was started "
                         "or resumed"});
  all.push_back(
      {.name = "num_threshold_candidates",
       .type = Argument::Type::integer,
       .fallback = 0,
       .help = "for rush_promotion: how many of the first trials others are compared with",
       .low = 0,
       .high = 1e9});
  return all;
}

Result<std::unique_ptr<Tuner>> make(const json& args, const TunerContext& context, Rng rng) {
  PromotionTuner::Options options = TRY(promotion_options("ASHA", args, context));
  const bool has_cost = !args["cost_attr"].is_null();
  options.candidates = args["num_threshold_candidates"];
  if (options.rungs.objectives > 1 && args["type"] != "promotion") {
    return fail_at("ASHA.type", args["type"].get<std::string>() +
                                    " ranks trials by one objective, and the experiment has "
                                    "several; leave the argument out");
  }
  if (args["type"] == "cost_promotion") {
    if (!has_cost) return fail_at("ASHA.cost_attr", "cost_promotion needs the name of a metric");
    options.rungs.rule = Rule::cost;
    options.cost = args["cost_attr"];
  } else if (has_cost) {
    return fail_at("ASHA.cost_attr", "it is used with the type cost_promotion only");
  }
  if (args["type"] == "rush_promotion") {
    options.rungs.rule = Rule::rush;
  } else if (options.candidates > 0) {
    return fail_at("ASHA.num_threshold_candidates", "it is used with the type rush_promotion only");
  }
  return make_promotion_tuner("ASHA", args, std::move(options), context, rng);
}

}  // namespace
}  // namespace asha_tuner

extern const TunerEntry asha_tuner_entry = {
    .name = "ASHA",
    .aliases = {},
    .summary = "pauses trials at rungs and lets the best of each rung go on",
    .arguments = asha_tuner::arguments(),
    .maximizes = false,
    .wants_reports = true,
    .make = asha_tuner::make};

}  // namespace attune
