#include "tuners/parts/promotion_arguments.h"

#include <charconv>
#include <string_view>

#include "rungs/levels.h"
#include "rungs/resource.h"

namespace attune {
namespace {

constexpr double kMostPromotionResource = 1e9;
constexpr std::int64_t kMostPromotionRungs = 1000;  // each question passes over all of them

// "1, 3,9". Nothing: it is no list of integers.
std::optional<std::vector<std::int64_t>> promotion_integers(std::string_view text) {
  std::vector<std::int64_t> all;
  const auto skip_spaces = [&] {
    while (text.starts_with(' ')) text.remove_prefix(1);
  };
  while (true) {
    skip_spaces();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    all.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    skip_spaces();
    if (text.empty()) return all;
    if (!text.starts_with(',')) return std::nullopt;
    text.remove_prefix(1);
  }
}

Result<std::vector<std::int64_t>> given_promotion_levels(const std::string& owner,
                                                         const json& args) {
  const std::int64_t max_t = args["max_t"];
  auto levels = promotion_integers(args["rung_levels"].get<std::string>());
  std::int64_t former = 0;
  for (const std::int64_t level : levels.value_or(std::vector<std::int64_t>{0})) {
    if (level <= former || level > max_t) {
      return fail_at(owner + ".rung_levels",
                     "ascending integers from 1 to max_t expected, as in \"1,3,9\"");
    }
    former = level;
  }
  if (std::ssize(*levels) > kMostPromotionRungs) {
    return fail_at(owner + ".rung_levels", "more than 1000 rungs");
  }
  if (former == max_t) levels->pop_back();  // there the trials end
  return *std::move(levels);
}

Result<std::vector<std::int64_t>> promotion_levels(const std::string& owner, const json& args) {
  if (!args["rung_levels"].is_null()) {
    if (!args["rung_increment"].is_null()) {
      return fail_at(owner + ".rung_levels", "rung_increment says another thing; give one of them");
    }
    return given_promotion_levels(owner, args);
  }
  const std::int64_t max_t = args["max_t"], grace = args["grace_period"];
  if (grace > max_t) return fail_at(owner + ".grace_period", "it must not be above max_t");
  std::optional<std::int64_t> increment;
  if (!args["rung_increment"].is_null()) {
    increment = args["rung_increment"].get<std::int64_t>();
    if ((max_t - grace) / *increment >= kMostPromotionRungs) {
      return fail_at(owner + ".rung_increment", "it makes more than 1000 rungs");
    }
  }
  return syne_levels(grace, args["reduction_factor"], max_t, increment);
}

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
  options.rungs.levels = TRY(promotion_levels(owner, args));
  options.rungs.max_t = args["max_t"];
  options.rungs.maximise = context.objectives.at(0).maximize;
  return options;
}

Result<std::unique_ptr<Tuner>> make_promotion_tuner(const std::string& owner, const json& args,
                                                    PromotionTuner::Options options,
                                                    const Context& context, const Rng& rng) {
  auto searcher = TRY(Searcher::make(owner, args["searcher"], context, rng));
  return std::make_unique<PromotionTuner>(std::move(options), std::move(searcher), context, rng);
}

}  // namespace attune
