// Bayesian optimisation with a Gaussian process (Jones, Schonlau, Welch, "Efficient Global
// Optimization of Expensive Black-Box Functions", 1998; Snoek, Larochelle, Adams, "Practical
// Bayesian Optimization of Machine Learning Algorithms", NIPS 2012).
//
// Two models answer in turns. One models the losses as they are (or a power of them, if they lie
// over decades), and sees how good the best are. The other models the losses bent to a normal
// distribution, and sees structure among the bad ones. Alone, the second is better after 25 results
// and worse after 100; in turns, they are as good as the better one at both.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "base/saved_numbers.h"
#include "tuners/parts/acquisition_search.h"
#include "tuners/parts/gp_model.h"
#include "tuners/parts/model_tuner.h"
#include "tuners/parts/objectives.h"
#include "tuners/registry.h"

namespace attune {
namespace gp_tuner {
namespace {

struct Settings {
  Utility utility;
  SurrogateSettings surrogate;
  std::size_t cold_start = 10;
  int most_candidates = 100000;
  int most_climbs = 250;
};

// Multiplications that the ranking of candidates may cost: larger models rank fewer candidates.
constexpr double kWork = 1.5e6;

class Gp final : public ModelTuner {
 public:
  Gp(const Settings& settings, const Objectives& objectives, Rng rng)
      : ModelTuner(rng), settings_(settings), objectives_(objectives) {}

  Result<void> set_space(const Space& space) override {
    record_ = SearchRecord(space, objectives_);
    models_ = models();
    turn_ = 0;
    return {};
  }

  bool learns_from_earlier() const override { return true; }
  std::vector<Point> learn_from(std::span<const EarlierTask> tasks) override {
    const auto earlier =
        std::make_shared<EarlierModels>(record_.space(), record_.features(), tasks);
    for (GpModel& model : models_) model.learn_from(earlier);
    auto starts = earlier->starts(EarlierModels::kStarts);
    record_.begin_behind(starts.size());
    return starts;
  }

  bool takes_gaps() const override { return true; }  // a gap is like a parameter of another option
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  Answer answer(TrialId id) override { return record_.propose(id, suggest()); }
  std::array<GpModel, 2> models() const {
    const auto of = [this](Scale scale) {
      return GpModel(record_.features(), scale, settings_.surrogate, objectives_.size(),
                     objectives_.limits());
    };
    return {of(Scale::standardised), of(Scale::straightened)};
  }

  Point suggest();
  SearchSettings search_settings(const GpModel& model) const;

  Settings settings_;
  Objectives objectives_;
  std::array<GpModel, 2> models_ = models();
  std::size_t turn_ = 0;
};

Point Gp::suggest() {
  const History& history = record_.history();
  const Features& features = record_.features();
  if (!record_.enough_results(settings_.cold_start) || features.size() == 0) {
    return record_.early(rng_);
  }
  GpModel& model = models_[turn_++ % models_.size()];
  model.update(history, record_.running(kMostPretended));
  std::vector<Point> good;
  for (const std::size_t i : model.good(history, kGood)) good.push_back(record_.point(i));
  const Utility utility = weighable(settings_.utility, record_.has_priors());
  const Acquisition acquisition = record_.with_prior(model.acquisition(history, utility, rng_));
  SearchSettings settings = search_settings(model);
  const auto search = [&](std::optional<Branch> within) {
    settings.within = within;
    return search_acquisition(record_.space(), features, acquisition, good, settings, rng_);
  };
  constexpr std::size_t kWanted = SearchRecord::kDrawn + SearchRecord::kGuided;
  if (const auto branch = record_.neglected(kWanted, rng_)) {
    const std::vector<Found> found = search(branch);
    if (const Point* point = record_.unseen(found)) return *point;
  }
  return record_.first_unseen(search({}), rng_);
}

// Ranking a candidate costs the square of the model's rows, and fewer candidates hardly make
// proposals worse, so large models get fewer.
SearchSettings Gp::search_settings(const GpModel& model) const {
  const auto n = static_cast<double>(model.size());
  const double work = n * n * static_cast<double>(model.outputs());
  const int affordable = static_cast<int>(std::clamp(kWork / work, 60.0, 300.0));
  SearchSettings settings;
  settings.candidates = std::min(affordable, settings_.most_candidates);
  settings.neighbours = affordable / 2;
  settings.climbs = std::min(n > 300 ? 2 : 4, settings_.most_climbs);
  return settings;
}

json Gp::save() const {
  json models = json::array();
  for (const GpModel& model : models_) models.push_back(model.save());
  return {{"rng", to_json(rng_)}, {"record", record_.save()}, {"models", models}, {"turn", turn_}};
}

Result<void> Gp::load(const json& state) {
  Gp loaded(settings_, objectives_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(record_.space()));
  loaded.models_ = models_;  // they know the earlier experiments
  TRY(loaded.record_.load(TRY(object_at(state, "record")), Gaps::allowed));
  const json models = TRY(array_at(state, "models"));
  if (models.size() != models_.size()) return fail("saved state: not two models");
  for (std::size_t i = 0; i < models.size(); ++i) {
    TRY(loaded.models_[i].load(models[i], loaded.record_.history()));
  }
  const auto turn = TRY(integer_at(state, "turn"));
  if (turn < 0) return fail("saved state: turn is negative");
  loaded.turn_ = static_cast<std::size_t>(turn);
  *this = std::move(loaded);
  return {};
}

Result<std::unique_ptr<Tuner>> make(const json& args, const Context& context, Rng rng) {
  if (args["nu"] != 2.5) return fail("GP: nu: only 2.5 is modelled (Matern 5/2); leave it out");
  const std::string utility = args["utility"];
  Settings settings;
  settings.utility.kind = utility == "auto"  ? Utility::Kind::by_noise
                          : utility == "ucb" ? Utility::Kind::confidence
                          : utility == "poi" ? Utility::Kind::probability
                                             : Utility::Kind::improvement;
  settings.utility.kappa = args["kappa"];
  settings.utility.xi = args["xi"];
  settings.surrogate.least_noise = args["alpha"];
  if (!args["input_warping"]) settings.surrogate.warping = GaussianProcess::Warping::none;
  settings.cold_start = args["cold_start_num"];
  settings.most_candidates = args["selection_num_warm_up"];
  settings.most_climbs = args["selection_num_starting_points"];
  return std::make_unique<Gp>(settings, Objectives(context), rng);
}

std::vector<Argument> arguments() {
  using enum Argument::Type;
  return {
      {.name = "utility",
       .type = choice,
       .fallback = "auto",
       .help = "what a proposal maximises: (the logarithm of) expected improvement, a "
               "confidence bound, or the probability of improvement; auto: ei, or the bound "
               "one deviation away if the results are noisy",
       .choices = {"auto", "ei", "ucb", "poi"}},
      {.name = "kappa",
       .type = number,
       .fallback = 5.0,
       .help = "ucb: deviations that the bound is away from the mean",
       .low = 0,
       .high = 1e6},
      {.name = "xi",
       .type = number,
       .fallback = 0.0,
       .help = "ei, poi: the improvement that counts, in deviations of the results",
       .low = 0,
       .high = 1e6},
      {.name = "nu", .type = number, .fallback = 2.5, .help = "smoothness of the kernel; only 2.5"},
      {.name = "alpha",
       .type = number,
       .fallback = 1e-6,
       .help = "the least variance of the noise, in variances of the results",
       .low = 1e-8,
       .high = 0.5},
      {.name = "cold_start_num",
       .type = integer,
       .fallback = 10,
       .help = "results before the model is asked; imported ones count",
       .low = 1,
       .high = 1e6},
      {.name = "input_warping",
       .type = boolean,
       .fallback = true,
       .help = "the ends of ranges may be stretched, if the results speak for it"},
      {.name = "selection_num_warm_up",
       .type = integer,
       .fallback = 100000,
       .help = "at most so many random candidates are ranked for a proposal",
       .low = 1,
       .high = 1e9},
      {.name = "selection_num_starting_points",
       .type = integer,
       .fallback = 250,
       .help = "at most so many of the best candidates climb",
       .low = 1,
       .high = 1e9}};
}

}  // namespace
}  // namespace gp_tuner

extern const TunerEntry gp_entry = {
    .name = "GP",
    .aliases = {"GPTuner"},
    .summary = "Gaussian process: few trials, each chosen with care; all types of parameters",
    .arguments = gp_tuner::arguments(),
    .maximizes = true,
    .make = gp_tuner::make};

}  // namespace attune
