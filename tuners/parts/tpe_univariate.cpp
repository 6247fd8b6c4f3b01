// Univariate tree-structured Parzen estimator (TPE): suggests each active parameter by itself.
//
// Source: Bergstra, Bardenet, Bengio, Kegl, "Algorithms for Hyper-Parameter Optimization" (NIPS
// 2011), section 4. NNI's choices: how many results count as good (math/density/ranked_values.h),
// forgetting by rank, and the constant liar for running trials (Ginsbourger, Le Riche, Carraro,
// "Kriging is well-suited to parallelize optimization", 2010).
//
// Cost: a suggestion passes once over the observations of each parameter. It sorts and copies only
// the values of running trials, of which at most kMostModelled take part.
#include "tuners/parts/tpe_univariate.h"

#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "math/density/categorical.h"
#include "math/density/parzen.h"
#include "math/density/promising.h"
#include "math/density/ranked_values.h"
#include "space/combinations.h"
#include "space/dedup.h"
#include "space/sample.h"
#include "space/saved_point.h"
#include "tuners/parts/feasible_suggestion.h"
#include "tuners/parts/running_trials.h"

namespace attune {
namespace {

enum class Liar { none, best, worst, mean };

struct UnivariateSettings {
  Liar liar = Liar::best;
  std::size_t startup = 20;  // observations of a parameter before it is modelled
  std::size_t candidates = 24;
  double prior_weight = 1;
  SplitRule split;
};

// A wider range of integers is modelled as a real. As categories, k integers would give the prior k
// times its weight against at most 25 good observations, and a value would learn nothing from its
// neighbours.
constexpr double kMostListed = 50;

// How a parameter is modelled: `real` on its internal scale, or so many `categories`, or (neither
// is set) not at all, because it is a constant.
struct Model {
  std::optional<ParzenPrior> real;
  double categories = 0;
};

Model model_interval(double low, double high, double prior_weight) {
  const double width = high - low;
  if (!(width > 0) || !std::isnormal(width / 100)) return {};
  return {ParzenPrior{std::midpoint(low, high), width, low, high, prior_weight}, 0};
}

struct MakeModel {
  double prior_weight;

  Model operator()(const Choice& domain) const {
    return {std::nullopt, static_cast<double>(domain.candidates.size())};
  }
  Model operator()(const Subset& domain) const {
    return {std::nullopt, static_cast<double>(binomial(domain.candidates.size(), domain.chosen))};
  }
  Model operator()(const IntRange& domain) const {
    const auto low = static_cast<double>(domain.low);
    const auto high = static_cast<double>(domain.high);
    if (high - low <= kMostListed) return {std::nullopt, high - low};
    return model_interval(low - 0.5, high - 0.5, prior_weight);
  }
  Model operator()(const Uniform& domain) const {
    return model_interval(to_internal(domain, domain.low), to_internal(domain, domain.high),
                          prior_weight);
  }
  Model operator()(const Normal& domain) const {
    if (!std::isnormal(domain.sigma / 100)) return {};
    ParzenPrior prior;
    prior.mu = domain.mu;
    prior.sigma = domain.sigma;
    prior.weight = prior_weight;
    return {prior, 0};
  }
};

// Statistics of all losses: the constant liar pretends that running trials have one of them.
struct Losses {
  std::int64_t count = 0;
  double best = 0, worst = 0, mean = 0;

  void add(double loss) {
    best = count == 0 ? loss : std::min(best, loss);
    worst = count == 0 ? loss : std::max(worst, loss);
    ++count;
    const auto n = static_cast<double>(count);
    mean = mean * ((n - 1) / n) + loss / n;  // not by a sum, which could overflow
  }
};

class UnivariateTpe final : public Tuner {
 public:
  UnivariateTpe(const UnivariateSettings& settings, Rng rng) : settings_(settings), rng_(rng) {}

  Result<void> set_space(const Space& space) override {
    space_ = space;
    dedup_ = Deduplicator(space);
    models_.clear();
    for (const Param& param : space.params) {
      models_.push_back(std::visit(MakeModel{settings_.prior_weight}, param.domain));
    }
    observed_.assign(space.params.size(), {});
    losses_ = {};
    running_.clear();
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) -> Answer {
      Point point =
          feasible_suggestion(space_, settings_.candidates, rng_,
                              [this](std::size_t candidates) { return suggest_point(candidates); });
      auto fresh = feasible_and_new(space_, dedup_, std::move(point));
      if (!fresh) return Exhausted{};
      running_.start(id, *fresh, internal(*fresh));
      return Proposal{.point = *std::move(fresh)};
    });
  }

  void withdraw(TrialId id) override { running_.finish(id); }

  void tell(std::span<const Outcome> outcomes) override {
    std::vector<const Outcome*> usable;
    for (const Outcome& outcome : outcomes) {
      if (outcome.end != End::imported) running_.finish(outcome.trial);
      dedup_.add(outcome.point);
      if (outcome.usable()) usable.push_back(&outcome);
    }
    observe(usable);
  }

  void adopt(TrialId id, const Point& point) override {
    dedup_.add(point);
    running_.start(id, point, internal(point));
  }

  bool takes_gaps() const override { return true; }
  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  Point suggest_point(std::size_t candidates);
  double suggest(std::size_t i, std::size_t candidates);
  double lie() const;
  std::vector<PendingValue> pending(std::size_t i) const;
  std::vector<double> internal(const Point& point) const;  // on internal scales, NaN where inactive
  void observe(std::span<const Outcome* const> outcomes);  // their losses are finite

  UnivariateSettings settings_;
  Rng rng_;
  Space space_;
  Deduplicator dedup_{Space{}};
  std::vector<Model> models_;           // of each parameter
  std::vector<RankedValues> observed_;  // of each parameter
  Losses losses_;
  RunningTrials<std::vector<double>> running_;  // with internal() of their points
  Split sides_;                                 // a buffer of suggest()
};

Point UnivariateTpe::suggest_point(std::size_t candidates) {
  Point point{std::vector<double>(space_.params.size(), Point::kInactive)};
  for (std::size_t i = 0; i < space_.params.size(); ++i) {
    if (is_active(space_, point, i)) point.values[i] = suggest(i, candidates);
  }
  return point;
}

double UnivariateTpe::suggest(std::size_t i, std::size_t candidates) {
  const Domain& domain = space_.params[i].domain;
  const Model& model = models_[i];
  const std::vector<PendingValue> waiting = pending(i);
  const bool warm = observed_[i].size() + waiting.size() >= settings_.startup;
  if (!warm || (!model.real && model.categories == 0)) return sample(domain, rng_);

  split(observed_[i], waiting, lie(), settings_.split, sides_);
  if (model.real) {
    const Parzen good(sides_.below, *model.real);
    const Parzen rest(sides_.above, *model.real);
    const Parzen::Sampler sampler(good);
    const double x = most_promising(good, rest, candidates, [&] { return sampler(rng_); });
    return from_internal(domain, x);
  }
  const Categorical good(sides_.below, model.categories, settings_.prior_weight);
  const Categorical rest(sides_.above, model.categories, settings_.prior_weight);
  return most_promising(good, rest, candidates, [&] {
    const auto category = good.sample(rng_);
    return category ? *category : sample(domain, rng_);
  });
}

double UnivariateTpe::lie() const {
  switch (settings_.liar) {
    case Liar::none:
      break;
    case Liar::best:
      return losses_.best;
    case Liar::worst:
      return losses_.worst;
    case Liar::mean:
      return losses_.mean;
  }
  return 0;  // unused: without a liar nothing is pending
}

std::vector<PendingValue> UnivariateTpe::pending(std::size_t i) const {
  std::vector<PendingValue> waiting;
  if (settings_.liar == Liar::none) return waiting;
  // All running trials have the same pretended loss, and of equal losses the older ones come first,
  // so these count as good. That is why the oldest trials must take part: with the newest alone, a
  // search of 1,500 trials at a time finds less (docs/algorithms.md). A start-up that is longer
  // than kMostModelled needs more of them, because it counts running trials.
  for (const auto* running : running_.both_ends(std::max(kMostModelled, settings_.startup))) {
    if (!running->point.active(i)) continue;
    waiting.push_back({running->encoded[i], static_cast<std::uint32_t>(waiting.size())});
  }
  std::ranges::sort(waiting);
  return waiting;
}

std::vector<double> UnivariateTpe::internal(const Point& point) const {
  std::vector<double> values = point.values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (point.active(i)) values[i] = to_internal(space_.params[i].domain, values[i]);
  }
  return values;
}

void UnivariateTpe::observe(std::span<const Outcome* const> outcomes) {
  for (const Outcome* outcome : outcomes) losses_.add(*outcome->loss);
  std::vector<double> values, losses;
  for (std::size_t i = 0; i < space_.params.size(); ++i) {
    values.clear();
    losses.clear();
    for (const Outcome* outcome : outcomes) {
      if (!outcome->point.active(i)) continue;
      values.push_back(to_internal(space_.params[i].domain, outcome->point.values[i]));
      losses.push_back(*outcome->loss);
    }
    observed_[i].insert_all(values, losses);
  }
}

json UnivariateTpe::save() const {
  json observed = json::array();
  for (const RankedValues& one : observed_) {
    observed.push_back(
        {{"values", save_numbers(one.values_by_loss())}, {"losses", save_numbers(one.losses())}});
  }
  return {{"rng", to_json(rng_)},
          {"seen", dedup_.save()},
          {"losses",
           {{"count", losses_.count},
            {"best", losses_.best},
            {"worst", losses_.worst},
            {"mean", losses_.mean}}},
          {"observed", observed},
          {"running", running_.save()}};
}

Result<void> UnivariateTpe::load(const json& state) {
  UnivariateTpe loaded(settings_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(space_));
  TRY(loaded.dedup_.load(TRY(object_at(state, "seen"))));

  const json losses = TRY(object_at(state, "losses"));
  loaded.losses_ = {TRY(integer_at(losses, "count")), TRY(number_at(losses, "best")),
                    TRY(number_at(losses, "worst")), TRY(number_at(losses, "mean"))};

  const json observed = TRY(array_at(state, "observed"));
  if (observed.size() != observed_.size()) {
    return fail("saved state: observations of " + std::to_string(observed.size()) +
                " parameters, not of " + std::to_string(observed_.size()));
  }
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const auto values = TRY(numbers_at(observed[i], "values"));
    auto sorted = TRY(numbers_at(observed[i], "losses"));
    const Param& param = space_.params[i];
    const auto possible = [&](double x) {
      return std::isfinite(x) && (models_[i].categories == 0 || is_possible(param.domain, x));
    };
    if (values.size() != sorted.size() || !std::ranges::all_of(values, possible) ||
        !std::ranges::all_of(sorted, [](double x) { return std::isfinite(x); }) ||
        !std::ranges::is_sorted(sorted)) {
      return fail("saved state: " + param.path + ": impossible observations");
    }
    loaded.observed_[i] = RankedValues::restore(values, std::move(sorted));
  }
  TRY(loaded.running_.load(space_, TRY(array_at(state, "running")),
                           [&](const Point& point) { return internal(point); }));
  *this = std::move(loaded);
  return {};
}

}  // namespace

std::vector<Argument> univariate_tpe_arguments() {
  using enum Argument::Type;
  return {{.name = "constant_liar_type",
           .type = choice,
           .fallback = "best",
           .help = "the result that a running trial is taken to have; none (or null): ignore it",
           .choices = {"best", "worst", "mean", "none"}},
          {.name = "n_startup_jobs",
           .type = integer,
           .fallback = 20,
           .help = "random draws before a parameter is modelled",
           .low = 0,
           .high = 1e9},
          {.name = "n_ei_candidates",
           .type = integer,
           .fallback = 24,
           .help = "candidates drawn for each suggestion",
           .low = 1,
           .high = 100000},
          {.name = "linear_forgetting",
           .type = integer,
           .fallback = 25,
           .help = "observations with full weight, and at most so many count as good",
           .low = 1,
           .high = 1e9},
          {.name = "prior_weight",
           .type = number,
           .fallback = 1.0,
           .help = "weight of the declared distribution, in observations",
           .low = 1e-6,
           .high = 1e6},
          {.name = "gamma",
           .type = number,
           .fallback = 0.25,
           .help = "of n observations gamma * sqrt(n) count as good",
           .low = 0,
           .high = 1e6}};
}

std::unique_ptr<Tuner> make_univariate_tpe(const json& args, Rng rng) {
  const std::string liar = args["constant_liar_type"];
  UnivariateSettings settings;
  settings.liar = liar == "best"    ? Liar::best
                  : liar == "worst" ? Liar::worst
                  : liar == "mean"  ? Liar::mean
                                    : Liar::none;
  settings.startup = args["n_startup_jobs"];
  settings.candidates = args["n_ei_candidates"];
  settings.prior_weight = args["prior_weight"];
  settings.split.gamma = args["gamma"];
  settings.split.forgetting = args["linear_forgetting"];
  return std::make_unique<UnivariateTpe>(settings, rng);
}

}  // namespace attune
