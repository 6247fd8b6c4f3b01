// Population based training as in Ray Tune and in Syne Tune: trials train side by side, and now and
// then one of the worst goes on from the checkpoint of one of the best, with a configuration that
// is changed a little at random.
//
// Source: Jaderberg et al., "Population Based Training of Neural Networks" (2017). The rules are in
// rungs/population.h and rungs/population_syne.h, the changes in tuners/parts/explore.h.
#include <charconv>
#include <cmath>

#include "tuners/parts/explore_syne_tuner.h"
#include "tuners/parts/explore_tuner.h"
#include "tuners/registry.h"

namespace attune {
namespace population_based_training_tuner {
namespace {

class RandomExplorer final : public Explorer {
 public:
  explicit RandomExplorer(RayExplore rule) : rule_(std::move(rule)) {}
  void set_space(const Space& space, const Mutable& which) override {
    space_ = space;
    which_ = which;
  }
  Explored explore(std::size_t, std::size_t, const Point& point, Rng& rng) override {
    return explore_as_ray(space_, which_, point, rule_, rng);
  }

 private:
  const RayExplore rule_;
  Space space_;
  Mutable which_;
};

// "1.2,0.8": positive numbers.
Result<std::vector<double>> factors(const std::string& text) {
  std::vector<double> all;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    while (at != end && *at == ' ') ++at;
    double factor = 0;
    const auto [next, error] = std::from_chars(at, end, factor);
    if (error != std::errc() || !std::isfinite(factor) || factor <= 0) break;
    all.push_back(factor);
    at = next;
    while (at != end && *at == ' ') ++at;
    if (at == end) return all;
    if (*at++ != ',') break;
  }
  return fail(
      "PopulationBasedTraining.perturbation_factors: positive numbers with commas between "
      "expected, as in \"1.2,0.8\"");
}

std::vector<Argument> arguments() {
  std::vector<Argument> all = population_arguments();
  all.push_back({.name = "resample_probability",
                 .type = Argument::Type::number,
                 .fallback = 0.25,
                 .help = "of drawing a parameter again instead of changing it a little",
                 .low = 0,
                 .high = 1});
  all.push_back({.name = "perturbation_factors",
                 .type = Argument::Type::text,
                 .fallback = "1.2,0.8",
                 .help = "numbers are multiplied by one of these, drawn at random"});
  all.push_back({.name = "rule",
                 .type = Argument::Type::choice,
                 .fallback = "ray",
                 .help = "ray: a loser goes on as the same trial; syne_tune: it is stopped, and a "
                         "new trial begins in its place",
                 .choices = {"ray", "syne_tune"}});
  return all;
}

Result<std::unique_ptr<Tuner>> make(const json& args, const Context& context, Rng rng) {
  auto settings = TRY(population_settings("PopulationBasedTraining", args, context));
  RayExplore explore{.factors = TRY(factors(args["perturbation_factors"].get<std::string>())),
                     .resample_probability = args["resample_probability"].get<double>()};
  if (args["rule"] != "syne_tune") {
    return make_population_tuner(std::move(settings),
                                 std::make_unique<RandomExplorer>(std::move(explore)), rng);
  }
  if (settings.rule.synchronous || settings.rule.burn_in > 0) {
    return fail("PopulationBasedTraining.rule: syne_tune has no synch and no burn_in_period");
  }
  return make_syne_population_tuner(std::move(settings), std::move(explore), rng);
}

}  // namespace
}  // namespace population_based_training_tuner

extern const TunerEntry population_based_training_entry = {
    .name = "PopulationBasedTraining",
    .aliases = {},
    .summary = "population based training of Ray Tune: the worst trials go on from the best ones",
    .arguments = population_based_training_tuner::arguments(),
    .maximizes = false,
    .wants_reports = true,
    .make = population_based_training_tuner::make};

}  // namespace attune
