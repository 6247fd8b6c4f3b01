// Local Bayesian optimisation: a Gaussian process that proposes only within a trust region around
// the best result. When the region has become too small, it is large again.
//
// Source: Eriksson, Pearce, Gardner, Turner, Poloczek, "Scalable Global Optimization via Local
// Bayesian Optimization" (NeurIPS 2019): TuRBO with one region (trust_region.h, box_search.h). The
// paper draws proposals from the posterior. This tuner maximises log expected improvement, and of
// noisy results a confidence bound (gp_model.h); a batch spreads because running trials count with
// their expected results. With limits it is SCBO (turbo_region.h), with the expected improvement
// times the probability that the limits are kept. In the paper a new region begins at random points
// and knows nothing of the former ones; here it goes on with all results (docs/algorithms.md).
#include <algorithm>
#include <memory>
#include <optional>

#include "base/saved_numbers.h"
#include "tuners/parts/box_search.h"
#include "tuners/parts/model_tuner.h"
#include "tuners/parts/objectives.h"
#include "tuners/parts/turbo_region.h"
#include "tuners/registry.h"

namespace attune {
namespace turbo_tuner {
namespace {

struct Settings {
  TrustRegionSettings region;
  std::optional<std::size_t> initial;  // results of random points at the beginning
};

constexpr double kWork = 5e6;  // multiplications that the ranking of candidates may cost

class Turbo final : public ModelTuner {
 public:
  Turbo(const Settings& settings, const Objectives& objectives, Rng rng)
      : ModelTuner(rng), settings_(settings), objectives_(objectives) {}

  Result<void> set_space(const Space& space) override {
    record_ = SearchRecord(space, objectives_);
    earlier_.reset();
    region_ = region();
    return {};
  }

  bool learns_from_earlier() const override { return true; }
  std::vector<Point> learn_from(std::span<const EarlierTask> tasks) override {
    earlier_ = std::make_shared<EarlierModels>(record_.space(), record_.features(), tasks);
    region_ = region();
    auto starts = earlier_->starts(EarlierModels::kStarts);
    record_.begin_behind(starts.size());
    return starts;
  }

  void withdraw(TrialId id) override {
    record_.withdraw(id);
    region_.withdraw(id);
  }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) {
      record_.tell({&outcome, 1});
      region_.learn(record_.history(), outcome.trial);
    }
  }

  json save() const override;
  Result<void> load(const json& state) override;

 private:
  Answer answer(TrialId id) override;
  std::vector<Found> search();
  std::size_t initial() const;
  TurboRegion region() const {
    return {record_.features(), settings_.region, objectives_.limits(), earlier_};
  }

  Settings settings_;
  Objectives objectives_;                         // one, and limits
  std::shared_ptr<const EarlierModels> earlier_;  // null: there are none
  TurboRegion region_ = region();
};

std::size_t Turbo::initial() const {
  const std::size_t d = record_.features().size();
  return settings_.initial.value_or(std::clamp<std::size_t>(2 * d, 4, 6));
}

Answer Turbo::answer(TrialId id) {
  const bool guided = record_.enough_results(initial()) && record_.features().size() > 0;
  Answer answer =
      record_.propose(id, guided ? record_.first_unseen(search(), rng_) : record_.early(rng_));
  if (std::holds_alternative<Proposal>(answer)) region_.start(id, guided);
  return answer;
}

std::vector<Found> Turbo::search() {
  const Features& features = record_.features();
  const History& history = record_.history();
  const GpModel& model = region_.model(history, record_.running(kMostPretended));
  const double length = region_.length();
  const Utility utility = weighable({.kind = Utility::Kind::by_noise}, record_.has_priors());
  const auto n = static_cast<double>(model.size());
  const double work = n * n * static_cast<double>(model.outputs());
  return search_box(
      record_.space(), features, record_.with_prior(region_.acquisition(history, utility, rng_)),
      {.centre = record_.point(region_.centre(history)),
       .sides = box_sides(features, model.objective().model().parameters().log_weights, length),
       .share = std::min(1.0, length)},
      {.candidates = static_cast<int>(std::clamp(kWork / work, 100.0, 400.0)), .climbs = 4}, rng_);
}

json Turbo::save() const {
  return {{"rng", to_json(rng_)}, {"record", record_.save()}, {"region", region_.save()}};
}

Result<void> Turbo::load(const json& state) {
  Turbo loaded(settings_, objectives_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(record_.space()));
  loaded.earlier_ = earlier_;
  loaded.region_ = loaded.region();
  TRY(loaded.record_.load(TRY(object_at(state, "record"))));
  TRY(loaded.region_.load(TRY(object_at(state, "region")), loaded.record_.history()));
  *this = std::move(loaded);
  return {};
}

Result<std::unique_ptr<Tuner>> make(const json& args, const Context& context, Rng rng) {
  Settings settings;
  settings.region.initial_length = args["length_init"];
  settings.region.success_tolerance = args["success_tolerance"];
  if (!args["n_initial"].is_null()) settings.initial = args["n_initial"].get<std::size_t>();
  Context known = context;
  if (several(known.objectives)) {
    // Of several objectives only the first counts.
    std::erase_if(known.objectives, [&](const Objective& each) {
      return &each != &known.objectives.front() && !each.limit;
    });
  }
  return std::make_unique<Turbo>(settings, Objectives(known), rng);
}

}  // namespace
}  // namespace turbo_tuner

extern const TunerEntry turbo_entry = {
    .name = "TuRBO",
    .aliases = {"TrustRegion"},
    .summary = "Gaussian process in a trust region: many trials, many dimensions",
    .arguments = {{.name = "length_init",
                   .type = Argument::Type::number,
                   .fallback = 0.8,
                   .help = "first side of the region, as a share of each parameter's range",
                   .low = 0.01,
                   .high = 1.6},
                  {.name = "success_tolerance",
                   .type = Argument::Type::integer,
                   .fallback = 3,
                   .help = "successes in a row that double the region",
                   .low = 1,
                   .high = 1e6},
                  {.name = "n_initial",
                   .type = Argument::Type::integer,
                   .fallback = nullptr,
                   .help = "results of random points at the beginning; null: twice the parameters, "
                           "4 to 6",
                   .low = 1,
                   .high = 1e6}},
    .maximizes = false,
    .make = turbo_tuner::make};

}  // namespace attune
