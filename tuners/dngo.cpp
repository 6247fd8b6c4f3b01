// Deep networks for global optimisation: expected improvement over a neural network with a Bayesian
// linear regression on its last hidden layer (Snoek et al., "Scalable Bayesian Optimization Using
// Deep Neural Networks", ICML 2015).
#include <algorithm>
#include <cmath>
#include <memory>

#include "base/saved_numbers.h"
#include "math/networks/deep_regression.h"
#include "space/sample.h"
#include "tuners/parts/acquisition_search.h"
#include "tuners/parts/expected_improvement.h"
#include "tuners/parts/model_tuner.h"
#include "tuners/registry.h"

namespace attune {
namespace dngo_tuner {
namespace {

struct Settings {
  std::size_t update_every = 20;
  std::size_t epochs = 500;
  int candidates = 1000;
};

constexpr std::size_t kMostRows = 500;  // the model learns a part of a larger history
// Results before the first training; fewer if trials_per_update is smaller.
constexpr std::size_t kFirst = 10;
// The most that a training may cost: parameters times presented results. It takes some seconds.
constexpr double kMostWork = 2e9;

std::vector<OneHot::Dimension> dimensions(const SearchRecord& record, Rng rng) {
  // Encodes a point whose conditional parameters are all inactive: NaN marks the dimensions that
  // can be inactive.
  const Space& space = record.space();
  Point awake = sample(space, rng);
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    if (space.params[i].condition) awake.values[i] = Point::kInactive;
  }
  std::vector<OneHot::Dimension> all;
  for (const double x : record.features().encode(awake)) {
    const std::size_t d = all.size();
    all.push_back({record.features().dimensions()[d].categories, x != x});
  }
  return all;
}

class Dngo final : public ModelTuner {
 public:
  Dngo(const Settings& settings, Rng rng) : ModelTuner(rng), settings_(settings) {}

  Result<void> set_space(const Space& space) override {
    record_ = SearchRecord(space);
    model_ = DeepRegression(dimensions(record_, rng_));
    trained_at_ = fitted_at_ = 0;
    return {};
  }

  json save() const override;
  Result<void> load(const json& state) override;

 private:
  Answer answer(TrialId id) override { return record_.propose(id, suggest()); }
  Point suggest();
  void update();
  bool must_train() const;
  std::size_t presentations(std::size_t rows) const;

  Settings settings_;
  DeepRegression model_{{}};
  // Size of the history at the last training; 0: never trained.
  std::size_t trained_at_ = 0;
  // State of the fit. It is not saved, because it follows from the network and the history.
  std::size_t fitted_at_ = 0;
  std::vector<std::size_t> members_;  // index in the history of each row of the model
  std::vector<double> targets_;
};

Point Dngo::suggest() {
  const Features& features = record_.features();
  if (!record_.enough_results(std::min(settings_.update_every, kFirst)) || features.size() == 0) {
    return record_.draw(rng_);
  }
  update();
  // Adds all running trials at once, to a copy of the model. Adding them one by one as they start
  // would give other last bits than adding them all after a restart.
  DeepRegression model = model_;
  std::vector<double> running;
  for (const auto row : record_.running(kMostPretended)) {
    running.insert(running.end(), row.begin(), row.end());
  }
  double best = std::ranges::min(targets_);
  if (!running.empty()) {
    for (const auto& [mean, deviation] : model.predict_many(running)) {
      best = std::min(best, mean);
    }
    model.confirm(running);
  }

  const SearchSettings search = {.candidates = (settings_.candidates + 1) / 2,
                                 .neighbours = settings_.candidates / 2};
  const std::vector<Point> good = record_.best_points(members_, targets_, kGood);
  return record_.first_unseen(
      search_acquisition(record_.space(), features, expected_improvement(model, best), good, search,
                         rng_),
      rng_);
}

void Dngo::update() {
  const History& history = record_.history();
  if (fitted_at_ == history.size()) return;
  members_ = modelled(history, kMostRows);
  targets_ = targets(history, members_, Scale::straightened);
  const std::vector<double> rows = history.gather(members_);
  if (must_train()) {
    model_.train(rows, targets_, presentations(members_.size()), rng_);
    trained_at_ = history.size();
  }
  model_.fit(rows, targets_);
  fitted_at_ = history.size();
}

// The network is trained again after `update_every` results; sooner at first, after half as many
// results as there were, when each still tells something new.
bool Dngo::must_train() const {
  const std::size_t step = std::clamp<std::size_t>(trained_at_ / 2, 1, settings_.update_every);
  return trained_at_ == 0 || record_.history().size() >= trained_at_ + step;
}

// A training presents `epochs` times as many results as an update brings, whatever the size of the
// history. So all trainings cost the same; each continues with the weights of the last one.
std::size_t Dngo::presentations(std::size_t rows) const {
  const auto wanted = static_cast<double>(settings_.epochs) *
                      static_cast<double>(std::min(rows, settings_.update_every));
  const double affordable = kMostWork / static_cast<double>(model_.parameters());
  return static_cast<std::size_t>(std::min(wanted, affordable)) + 1;
}

json Dngo::save() const {
  return {{"rng", to_json(rng_)},
          {"record", record_.save()},
          {"network", model_.save()},
          {"trained_at", trained_at_}};
}

Result<void> Dngo::load(const json& state) {
  Dngo loaded(settings_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(record_.space()));
  TRY(loaded.record_.load(TRY(object_at(state, "record"))));
  TRY(loaded.model_.load(TRY(value_at(state, "network"))));
  const auto trained_at = TRY(integer_at(state, "trained_at"));
  const History& history = loaded.record_.history();
  if (!is_index(static_cast<double>(trained_at), static_cast<double>(history.size() + 1)) ||
      (trained_at > 0) != loaded.model_.trained()) {
    return fail("saved state: a network that does not fit its results");
  }
  loaded.trained_at_ = static_cast<std::size_t>(trained_at);
  *this = std::move(loaded);
  return {};
}

Result<std::unique_ptr<Tuner>> make(const json& args, const Context&, Rng rng) {
  Settings settings;
  settings.update_every = args["trials_per_update"];
  settings.epochs = args["num_epochs_per_training"];
  settings.candidates = args["sample_size"];
  return std::make_unique<Dngo>(settings, rng);
}

std::vector<Argument> arguments() {
  using enum Argument::Type;
  const Settings settings;
  return {{.name = "trials_per_update",
           .type = integer,
           .fallback = settings.update_every,
           .help = "results between two trainings of the network, at most",
           .low = 1,
           .high = 1e6},
          {.name = "num_epochs_per_training",
           .type = integer,
           .fallback = settings.epochs,
           .help = "times that a training presents so many results as trials_per_update",
           .low = 1,
           .high = 1e6},
          {.name = "sample_size",
           .type = integer,
           .fallback = settings.candidates,
           .help = "candidates that are ranked for a proposal",
           .low = 1,
           .high = 1e6}};
}

}  // namespace
}  // namespace dngo_tuner

extern const TunerEntry dngo_entry = {
    .name = "DNGO",
    .aliases = {"DNGOTuner"},
    .summary =
        "neural network with a Bayesian output: nearly the same cost for any number of results",
    .arguments = dngo_tuner::arguments(),
    .maximizes = true,
    .make = dngo_tuner::make};

}  // namespace attune
