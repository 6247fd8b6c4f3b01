// Metis: a proposal exploits, explores, or measures a surprising result again, whichever promises
// to lower the expected optimum the most (Li, Liang, Lu, et al., "Metis: Robustly Tuning Tail
// Latencies of Cloud Systems", USENIX ATC 2018, section 4).
//
// How much one more result lowers the expected optimum is the knowledge gradient (Frazier, Powell,
// Dayanik, "The Knowledge-Gradient Policy for Correlated Normal Beliefs", INFORMS Journal on
// Computing 2009). Here it is computed at the two ends of the result's interval.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "base/saved_numbers.h"
#include "tuners/parts/acquisition_search.h"
#include "tuners/parts/model_tuner.h"
#include "tuners/parts/surrogate.h"
#include "tuners/registry.h"

namespace attune {
namespace metis_tuner {
namespace {

struct Settings {
  bool resampling = false;
  bool candidates = true;
  int starting_points = 600;
  std::size_t cold_start = 10;
  double exploration_probability = 0.9;
};

// 95 % of a normal distribution lie within so many deviations of the mean.
constexpr double kInterval = 1.96;
// Multiplications that the ranking of candidates may cost: larger models rank fewer candidates.
constexpr double kWork = 1e6;

class Metis final : public ModelTuner {
 public:
  Metis(const Settings& settings, Rng rng) : ModelTuner(rng), settings_(settings) {}

  Result<void> set_space(const Space& space) override {
    record_ = SearchRecord(space);
    surrogate_ = surrogate();
    exhausted_ = false;
    return {};
  }

  json save() const override;
  Result<void> load(const json& state) override;

 private:
  struct Suggestion {
    Point point;
    bool again = false;  // a known point, measured again on purpose
  };

  Surrogate surrogate() const { return Surrogate(record_.features(), Scale::standardised); }

  Answer answer(TrialId id) override;
  Suggestion suggest();
  Suggestion candidate(const Point& optimum, std::span<const Point> good);
  std::vector<Found> lowest(double mean_weight, double deviation_weight,
                            std::span<const Point> good);
  SearchSettings search_settings() const;

  Settings settings_;
  Surrogate surrogate_ = surrogate();
  bool exhausted_ = false;
};

Answer Metis::answer(TrialId id) {
  // A finite space is exhausted when each point was proposed, even if some could be measured again.
  if (exhausted_) return Exhausted{};
  auto [point, again] = suggest();
  if (again) return record_.repeat(id, std::move(point));
  Answer answer = record_.propose(id, std::move(point));
  exhausted_ = std::holds_alternative<Exhausted>(answer);
  return answer;
}

Metis::Suggestion Metis::suggest() {
  const History& history = record_.history();
  if (!record_.enough_results(settings_.cold_start) || record_.features().size() == 0) {
    return {record_.draw(rng_)};
  }
  surrogate_.update(history);
  surrogate_.pretend(record_.running(kMostPretended));
  std::vector<Point> good;
  for (const std::size_t i : surrogate_.most_promising(kGood)) good.push_back(record_.point(i));
  const std::vector<Found> best = lowest(1, 0, good);
  if (best.empty()) return {record_.draw(rng_)};
  const Point& optimum = best.front().point;
  const bool explores = rng_.uniform() < settings_.exploration_probability;
  if (!explores && !record_.known(optimum)) return {optimum};
  return settings_.candidates ? candidate(optimum, good) : Suggestion{record_.draw(rng_)};
}

Metis::Suggestion Metis::candidate(const Point& optimum, std::span<const Point> good) {
  std::vector<Suggestion> all;
  if (!record_.known(optimum)) all.push_back({optimum});
  all.push_back({record_.first_unseen(lowest(1, -kInterval, good), rng_)});
  all.push_back({record_.first_unseen(lowest(0, -1, good), rng_)});
  if (settings_.resampling) {
    const auto surprising = surrogate_.most_surprising(record_.history());
    // The surprising result may be an import that breaks a constraint.
    if (surprising && record_.space().feasible(record_.point(*surprising))) {
      all.push_back({record_.point(*surprising), true});
    }
  }
  return *std::ranges::max_element(all, {}, [&](const Suggestion& one) {
    return surrogate_.expected_fall(record_.features().encode(one.point));
  });
}

// Finds the points where mean_weight * mean + deviation_weight * deviation is lowest.
std::vector<Found> Metis::lowest(double mean_weight, double deviation_weight,
                                 std::span<const Point> good) {
  const GaussianProcess& model = surrogate_.model();
  const std::size_t d = record_.features().size();
  std::vector<double> by_mean(d), by_deviation(d);
  Acquisition acquisition;
  acquisition.values = [&](std::span<const double> rows) {
    std::vector<double> values;
    for (const auto& [mean, deviation] : model.predict_many(rows)) {
      values.push_back(-mean_weight * mean - deviation_weight * deviation);
    }
    return values;
  };
  acquisition.climb = [&](std::span<const double> row, std::span<double> gradient) {
    const auto [mean, deviation] = model.predict(row, by_mean, by_deviation);
    for (std::size_t i = 0; i < d; ++i) {
      gradient[i] = -mean_weight * by_mean[i] - deviation_weight * by_deviation[i];
    }
    return -mean_weight * mean - deviation_weight * deviation;
  };
  return search_acquisition(record_.space(), record_.features(), acquisition, good,
                            search_settings(), rng_);
}

// Ranking a candidate costs the square of the model's rows.
SearchSettings Metis::search_settings() const {
  const auto n = static_cast<double>(surrogate_.model().size());
  const int affordable = static_cast<int>(std::clamp(kWork / (n * n), 40.0, 200.0));
  SearchSettings settings;
  settings.candidates = std::min(affordable, settings_.starting_points);
  settings.neighbours = affordable / 2;
  settings.climbs = 2;
  return settings;
}

json Metis::save() const {
  return {{"rng", to_json(rng_)},
          {"record", record_.save()},
          {"model", surrogate_.save()},
          {"exhausted", exhausted_}};
}

Result<void> Metis::load(const json& state) {
  Metis loaded(settings_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(record_.space()));
  TRY(loaded.record_.load(TRY(object_at(state, "record"))));
  TRY(loaded.surrogate_.load(TRY(object_at(state, "model")), loaded.record_.history()));
  const json exhausted = TRY(value_at(state, "exhausted"));
  if (!exhausted.is_boolean()) return fail("saved state: exhausted is not true or false");
  loaded.exhausted_ = exhausted;
  *this = std::move(loaded);
  return {};
}

Result<std::unique_ptr<Tuner>> make(const json& args, const Context&, Rng rng) {
  Settings settings;
  settings.resampling = !args["no_resampling"].get<bool>();
  settings.candidates = !args["no_candidates"].get<bool>();
  settings.starting_points = args["selection_num_starting_points"];
  settings.cold_start = args["cold_start_num"];
  settings.exploration_probability = args["exploration_probability"];
  return std::make_unique<Metis>(settings, rng);
}

std::vector<Argument> arguments() {
  using enum Argument::Type;
  const Settings settings;
  return {{.name = "no_resampling",
           .type = boolean,
           .fallback = !settings.resampling,
           .help = "false: results that surprise may be measured again, the same configuration"},
          {.name = "no_candidates",
           .type = boolean,
           .fallback = !settings.candidates,
           .help = "true: random draws in place of chosen exploration"},
          {.name = "selection_num_starting_points",
           .type = integer,
           .fallback = settings.starting_points,
           .help = "at most so many random candidates are ranked in a search",
           .low = 1,
           .high = 1e9},
          {.name = "cold_start_num",
           .type = integer,
           .fallback = settings.cold_start,
           .help = "results before the model is asked; imported ones count",
           .low = 1,
           .high = 1e6},
          {.name = "exploration_probability",
           .type = number,
           .fallback = settings.exploration_probability,
           .help = "share of proposals that may explore; the others are the expected optimum",
           .low = 0,
           .high = 1}};
}

}  // namespace
}  // namespace metis_tuner

extern const TunerEntry metis_entry = {
    .name = "Metis",
    .aliases = {"MetisTuner"},
    .summary = "Gaussian process: exploits, explores, or measures again, whichever tells the most",
    .arguments = metis_tuner::arguments(),
    .maximizes = true,
    .make = metis_tuner::make};

}  // namespace attune
