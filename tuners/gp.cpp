// Bayesian optimisation with a Gaussian process (Jones, Schonlau, Welch, "Efficient Global
// Optimization of Expensive Black-Box Functions", 1998; Snoek, Larochelle, Adams, "Practical
// Bayesian Optimization of Machine Learning Algorithms", NIPS 2012).
//
// Two surrogates answer in turns: one of the losses as they are, which sees how good the best are,
// and one of the losses bent to a normal distribution, which sees structure among the bad. Alone
// the bent one is the better of the two after 25 results and the worse after 100; together they are
// as good as the better one at either.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "base/saved_numbers.h"
#include "math/log_improvement.h"
#include "tuners/acquisition_search.h"
#include "tuners/registry.h"
#include "tuners/search_record.h"
#include "tuners/surrogate.h"

namespace attune {
namespace {

enum class Utility { improvement, confidence, probability };

struct Settings {
  Utility utility = Utility::improvement;
  double kappa = 5;
  double xi = 0;
  double least_noise = 1e-6;
  std::size_t cold_start = 10;
  int most_candidates = 100000;
  int most_climbs = 250;
};

constexpr std::size_t kGood = 10;           // points to search around
constexpr std::size_t kMostPretended = 64;  // running trials that the model knows of, the newest
constexpr double kWork = 1.5e6;  // multiplications that the ranking of candidates may cost

class Gp final : public Tuner {
 public:
  Gp(const Settings& settings, Rng rng) : settings_(settings), rng_(rng) {}

  Result<void> set_space(const Space& space) override {
    record_ = SearchRecord(space);
    surrogates_ = surrogates();
    turn_ = 0;
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) { return record_.propose(id, suggest()); });
  }

  void withdraw(TrialId id) override { record_.withdraw(id); }
  void tell(std::span<const Outcome> outcomes) override { record_.tell(outcomes); }
  void adopt(TrialId id, const Point& point) override { record_.adopt(id, point); }
  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  std::array<Surrogate, 2> surrogates() const {
    return {Surrogate(record_.features(), Scale::standardised, settings_.least_noise),
            Surrogate(record_.features(), Scale::straightened, settings_.least_noise)};
  }

  Point suggest();
  SearchSettings search_settings(std::size_t rows) const;
  LogImprovement utility(const Prediction& prediction, double best) const;

  Settings settings_;
  Rng rng_;
  SearchRecord record_{Space{}};
  std::array<Surrogate, 2> surrogates_ = surrogates();
  std::size_t turn_ = 0;
};

Point Gp::suggest() {
  const History& history = record_.history();
  const Features& features = record_.features();
  if (history.usable() < std::max<std::size_t>(settings_.cold_start, 1) || features.size() == 0) {
    return record_.draw(rng_);
  }
  Surrogate& surrogate = surrogates_[turn_++ % surrogates_.size()];
  surrogate.update(history);
  surrogate.pretend(record_.running(kMostPretended));

  const GaussianProcess& model = surrogate.model();
  std::vector<double> by_mean(features.size()), by_deviation(features.size());
  Acquisition acquisition;
  acquisition.values = [&](std::span<const double> rows) {
    std::vector<double> values;
    for (const Prediction& prediction : model.predict_many(rows)) {
      values.push_back(utility(prediction, surrogate.best()).value);
    }
    return values;
  };
  acquisition.climb = [&](std::span<const double> row, std::span<double> gradient) {
    const Prediction prediction = model.predict(row, by_mean, by_deviation);
    const LogImprovement at = utility(prediction, surrogate.best());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = at.by_mean * by_mean[i] + at.by_deviation * by_deviation[i];
    }
    return at.value;
  };
  std::vector<Point> good;
  for (const std::size_t i : surrogate.most_promising(kGood)) good.push_back(record_.point(i));
  return record_.first_unseen(search_acquisition(record_.space(), features, acquisition, good,
                                                 search_settings(model.size()), rng_),
                              rng_);
}

// A candidate costs the square of the model's rows; how many there are does not matter much.
SearchSettings Gp::search_settings(std::size_t rows) const {
  const auto n = static_cast<double>(rows);
  const int affordable = static_cast<int>(std::clamp(kWork / (n * n), 60.0, 300.0));
  SearchSettings settings;
  settings.candidates = std::min(affordable, settings_.most_candidates);
  settings.neighbours = affordable / 2;
  settings.climbs = std::min(rows > 300 ? 2 : 4, settings_.most_climbs);
  return settings;
}

LogImprovement Gp::utility(const Prediction& prediction, double best) const {
  const auto [mean, deviation] = prediction;
  switch (settings_.utility) {
    case Utility::improvement:
      break;
    case Utility::confidence:
      return {settings_.kappa * deviation - mean, -1, settings_.kappa};
    case Utility::probability: {
      const double z = (best - settings_.xi - mean) / deviation;
      const double slope = normal_hazard(z);
      return {log_normal_probability(z), -slope / deviation, -slope * z / deviation};
    }
  }
  return log_expected_improvement(mean, deviation, best - settings_.xi);
}

json Gp::save() const {
  json models = json::array();
  for (const Surrogate& surrogate : surrogates_) models.push_back(surrogate.save());
  return {{"rng", to_json(rng_)}, {"record", record_.save()}, {"models", models}, {"turn", turn_}};
}

Result<void> Gp::load(const json& state) {
  Gp loaded(settings_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(record_.space()));
  TRY(loaded.record_.load(TRY(object_at(state, "record"))));
  const json models = TRY(array_at(state, "models"));
  if (models.size() != surrogates_.size()) return fail("saved state: not two models");
  for (std::size_t i = 0; i < models.size(); ++i) {
    TRY(loaded.surrogates_[i].load(models[i], loaded.record_.history()));
  }
  const auto turn = TRY(integer_at(state, "turn"));
  if (turn < 0) return fail("saved state: turn is negative");
  loaded.turn_ = static_cast<std::size_t>(turn);
  *this = std::move(loaded);
  return {};
}

Result<std::unique_ptr<Tuner>> make(const json& args, const Context&, Rng rng) {
  if (args["nu"] != 2.5) return fail("GP: nu: only 2.5 is modelled (Matern 5/2); leave it out");
  const std::string utility = args["utility"];
  Settings settings;
  settings.utility = utility == "ucb"   ? Utility::confidence
                     : utility == "poi" ? Utility::probability
                                        : Utility::improvement;
  settings.kappa = args["kappa"];
  settings.xi = args["xi"];
  settings.least_noise = args["alpha"];
  settings.cold_start = args["cold_start_num"];
  settings.most_candidates = args["selection_num_warm_up"];
  settings.most_climbs = args["selection_num_starting_points"];
  return std::make_unique<Gp>(settings, rng);
}

std::vector<Argument> arguments() {
  using enum Argument::Type;
  return {
      {.name = "utility",
       .type = choice,
       .fallback = "ei",
       .help = "what a proposal maximises: (the logarithm of) expected improvement, a "
               "confidence bound, or the probability of improvement",
       .choices = {"ei", "ucb", "poi"}},
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

extern const TunerEntry gp_entry = {
    .name = "GP",
    .aliases = {"GPTuner"},
    .summary = "Gaussian process: few trials, each chosen with care; all types of parameters",
    .arguments = arguments(),
    .maximizes = true,
    .make = make};

}  // namespace attune
