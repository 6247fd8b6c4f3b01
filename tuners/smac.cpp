// Sequential model-based algorithm configuration: expected improvement over a random forest
// (Hutter, Hoos, Leyton-Brown, "Sequential Model-Based Optimization for General Algorithm
// Configuration", LION 2011; Lindauer et al., "SMAC3: A Versatile Bayesian Optimization Package for
// Hyperparameter Optimization", JMLR 2022). Each proposal fits a new forest: see fit().
#include <algorithm>
#include <cmath>
#include <memory>

#include "base/saved_numbers.h"
#include "math/trees/forest.h"
#include "tuners/parts/acquisition_search.h"
#include "tuners/parts/expected_improvement.h"
#include "tuners/parts/model_tuner.h"
#include "tuners/registry.h"

namespace attune {
namespace smac_tuner {
namespace {

struct Settings {
  ForestSettings forest;
  std::size_t initial_design = 10;
  double random_probability = 0.05;
};

constexpr std::size_t kMostRows = 500;  // the forest learns a part of a larger history
// The least deviation of a prediction, in deviations of the losses: even where all trees agree,
// they are not certain.
constexpr double kLeastDeviation = 1e-3;
constexpr SearchSettings kSearch = {
    .candidates = 500, .neighbours = 500, .climbs = 5, .rounds = 5, .exchanges = 4};

class Smac final : public ModelTuner {
 public:
  Smac(const Settings& settings, Rng rng) : ModelTuner(rng), settings_(settings) {}

  Result<void> set_space(const Space& space) override {
    record_ = SearchRecord(space);
    return {};
  }

  bool takes_gaps() const override { return true; }  // a gap is like a parameter of another option
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  Answer answer(TrialId id) override { return record_.propose(id, suggest()); }
  Point suggest();
  Forest fit(std::span<const std::size_t> members, std::vector<double> losses);

  Settings settings_;
};

Point Smac::suggest() {
  const History& history = record_.history();
  const Features& features = record_.features();
  if (!record_.enough_results(settings_.initial_design) || features.size() == 0 ||
      rng_.uniform() < settings_.random_probability) {
    return record_.draw(rng_);
  }
  const std::vector<std::size_t> members = modelled(history, kMostRows);
  const std::vector<double> losses =
      targets(history, members, Scale::straightened, 0, Failures::worst);
  const double best = *std::ranges::min_element(losses);
  const Forest forest = fit(members, losses);
  Acquisition acquisition;
  acquisition.values = [&](std::span<const double> rows) {
    return log_expected_improvements(forest, rows, best, kLeastDeviation);
  };
  const std::vector<Point> good = record_.best_points(members, losses, kGood);
  return record_.first_unseen(
      search_acquisition(record_.space(), features, acquisition, good, kSearch, rng_), rng_);
}

// Fits a new forest for each proposal, also within a batch: each proposal is a running trial that
// the forest of the next proposal must know. A running trial counts as an average result. Fitting
// costs less than the search. So no forest outlives a proposal, and save() contains none.
Forest Smac::fit(std::span<const std::size_t> members, std::vector<double> losses) {
  std::vector<double> rows = record_.history().gather(members);
  double mean = 0;
  for (const double loss : losses) mean += loss / static_cast<double>(losses.size());
  for (const std::span<const double> running : record_.running(kMostPretended)) {
    rows.insert(rows.end(), running.begin(), running.end());
    losses.push_back(mean);
  }
  Forest forest(record_.features().categories(), settings_.forest);
  forest.fit(rows, losses, rng_);
  return forest;
}

json Smac::save() const { return {{"rng", to_json(rng_)}, {"record", record_.save()}}; }

Result<void> Smac::load(const json& state) {
  Rng rng = TRY(rng_from_json(TRY(array_at(state, "rng"))));
  TRY(record_.load(TRY(object_at(state, "record")), Gaps::allowed));
  rng_ = rng;
  return {};
}

Result<std::unique_ptr<Tuner>> make(const json& args, const Context&, Rng rng) {
  Settings settings;
  settings.forest.trees = args["n_trees"];
  settings.forest.share = args["ratio_features"];
  settings.forest.least_leaf = args["min_samples_leaf"];
  settings.forest.bootstrap = args["bootstrap"];
  settings.initial_design = args["initial_design"];
  settings.random_probability = args["random_probability"];
  return std::make_unique<Smac>(settings, rng);
}

std::vector<Argument> arguments() {
  using enum Argument::Type;
  const ForestSettings forest;
  const Settings settings;
  return {{.name = "config_dedup",
           .type = boolean,
           .fallback = false,
           .help = "NNI's; without effect: no configuration is proposed twice either way"},
          {.name = "initial_design",
           .type = integer,
           .fallback = settings.initial_design,
           .help = "results before the forest is asked; imported ones count",
           .low = 1,
           .high = 1e6},
          {.name = "random_probability",
           .type = number,
           .fallback = settings.random_probability,
           .help = "share of later proposals that are random draws",
           .low = 0,
           .high = 1},
          {.name = "n_trees",
           .type = integer,
           .fallback = forest.trees,
           .help = "trees in the forest",
           .low = 1,
           .high = 1000},
          {.name = "ratio_features",
           .type = number,
           .fallback = forest.share,
           .help = "share of the parameters that a split chooses from",
           .low = 0.01,
           .high = 1},
          {.name = "min_samples_leaf",
           .type = integer,
           .fallback = forest.least_leaf,
           .help = "results on each side of a split",
           .low = 1,
           .high = 1000},
          {.name = "bootstrap",
           .type = boolean,
           .fallback = forest.bootstrap,
           .help = "whether each tree learns from a sample with replacement, or from all results"}};
}

}  // namespace
}  // namespace smac_tuner

extern const TunerEntry smac_entry = {
    .name = "SMAC",
    .aliases = {"SMACTuner"},
    .summary = "random forest: choices and conditions among many parameters",
    .arguments = smac_tuner::arguments(),
    .maximizes = true,
    .make = smac_tuner::make};

}  // namespace attune
