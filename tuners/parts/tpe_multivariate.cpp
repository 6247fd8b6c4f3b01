// Multivariate tree-structured Parzen estimator (TPE).
//
// Source: Bergstra, Bardenet, Bengio, Kegl (NIPS 2011) for the rule; Falkner, Klein, Hutter, "BOHB"
// (ICML 2018), section 3.2, for joint kernels; Watanabe (arXiv 2304.11127) for the choices that
// matter. The weights of the good trials are those of recombination in CMA-ES, log(m + 1/2) -
// log(rank) (Hansen, arXiv 1604.00772, section 3.1).
//
// Groups (tuners/parts/tpe_groups.h) are suggested one after the other, parents first: the choice
// of a branch is a category in its parent's group. Running trials count as bad ones, so that a
// batch spreads. Trials without a usable result count as bad ones too, so that the search leaves a
// region that fails.
//
// Cost: a suggestion uses at most kMostGood + kMostRest + kMostModelled components, however many
// trials there are. If there are more bad trials, every k-th in the order of losses stands for its
// neighbours: a few of them show which regions are bad. Of the running trials the newest take part.
#include "tuners/parts/tpe_multivariate.h"

#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "space/dedup.h"
#include "space/prior.h"
#include "space/sample.h"
#include "space/saved_point.h"
#include "tuners/parts/feasible_suggestion.h"
#include "tuners/parts/running_trials.h"
#include "tuners/parts/tpe_density.h"
#include "tuners/parts/tpe_history.h"

namespace attune {
namespace {

constexpr std::size_t kMostGood = 25;  // good trials, at most
// Other ended trials in the density of the bad ones, at most.
constexpr std::size_t kMostRest = 192;
// Results that a group needs before some of them are called good.
constexpr std::size_t kFewest = 2;
// Suggestions that may repeat a known point before the tuner draws at random.
constexpr int kRetries = 10;

struct MultivariateSettings {
  std::size_t startup = 10;
  std::size_t candidates = 48;
  double gamma = 0.15;
  double prior_weight = 1;
};

class MultivariateTpe final : public Tuner {
 public:
  MultivariateTpe(const MultivariateSettings& settings, const Objectives& objectives, Rng rng)
      : settings_(settings), objectives_(objectives), rng_(rng) {}

  Result<void> set_space(const Space& space) override {
    space_ = space;
    priors_ = Priors(space);
    dedup_ = Deduplicator(space);
    history_ = TpeHistory(space, objectives_);
    running_.clear();
    return {};
  }

  bool set_priors(const Space& space) override {
    space_ = space;
    priors_ = Priors(space);
    return true;
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) -> Answer {
      Point point = feasible();
      for (int i = 0; i < kRetries && dedup_.repeats(point); ++i) point = feasible();
      // The density stays near known points, so a random point is tried before the next point of
      // the grid.
      if (dedup_.repeats(point)) point = sample(space_, rng_);
      auto fresh = feasible_and_new(space_, dedup_, std::move(point));
      if (!fresh) return Exhausted{};
      running_.start(id, *fresh, encoded(*fresh));
      return Proposal{.point = *std::move(fresh)};
    });
  }

  bool takes_gaps() const override { return true; }
  void withdraw(TrialId id) override { running_.finish(id); }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) {
      if (outcome.end != End::imported) running_.finish(outcome.trial);
      dedup_.add(outcome.point);
      if (const auto values = objectives_(outcome)) {
        history_.add(outcome.point, *values);
      } else {
        history_.add_failed(outcome.point);
      }
    }
  }

  void adopt(TrialId id, const Point& point) override {
    dedup_.add(point);
    running_.start(id, point, encoded(point));
  }

  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  using Coordinates = std::vector<TpeGroups::Coordinate>;

  Point feasible() {
    return feasible_suggestion(space_, settings_.candidates, rng_,
                               [this](std::size_t candidates) { return suggest(candidates); });
  }
  Point suggest(std::size_t candidates);
  void suggest_group(std::size_t g, std::size_t count, Point& point);
  void split(std::size_t g, TpeSide& good, TpeSide& rest) const;
  Coordinates encoded(const Point& point) const {
    Coordinates coordinates(history_.groups().variables().size());
    history_.groups().encode(point, coordinates);
    return coordinates;
  }

  MultivariateSettings settings_;
  Objectives objectives_;
  Rng rng_;
  Space space_;
  Priors priors_;
  Deduplicator dedup_{Space{}};
  TpeHistory history_;
  RunningTrials<Coordinates> running_;
};

Point MultivariateTpe::suggest(std::size_t candidates) {
  if (history_.size() + running_.size() < settings_.startup) {
    return draw_half_from(priors_, space_, rng_);
  }
  history_.rank();
  Point point{std::vector<double>(space_.params.size(), Point::kInactive)};
  for (std::size_t i = 0; i < space_.params.size(); ++i) {
    if (point.active(i) || !is_active(space_, point, i)) continue;
    const std::size_t g = history_.groups().group_of(i);
    if (g == TpeGroups::kConstant) {
      point.values[i] = sample(space_.params[i].domain, rng_);
    } else {
      suggest_group(g, candidates, point);
    }
  }
  return point;
}

void MultivariateTpe::split(std::size_t g, TpeSide& good, TpeSide& rest) const {
  const std::vector<std::uint32_t>& order = history_.by_loss(g);
  const std::size_t n = order.size(), usable = history_.usable(g);
  const double share = std::ceil(settings_.gamma * static_cast<double>(usable));
  const std::size_t m =
      usable < kFewest ? 0 : std::min({usable, kMostGood, static_cast<std::size_t>(share)});
  for (std::size_t rank = 0; rank < m; ++rank) {
    const double weight =
        std::log(static_cast<double>(m) + 0.5) - std::log(static_cast<double>(rank) + 1);
    good.add(history_.coordinates(order[rank]), weight);
  }
  const std::size_t others = n - m, kept = std::min(others, kMostRest);
  for (std::size_t k = 0; k < kept; ++k) {
    // Takes the middle one of each of `kept` equal parts; if there are no more than `kept`, all of
    // them.
    rest.add(history_.coordinates(order[m + (2 * k + 1) * others / (2 * kept)]), 1);
  }
  // Proposed and adopted points are complete: a group is active if its first variable has a value.
  const std::size_t variable = history_.groups().groups()[g].front();
  for (const auto& running : running_.newest(kMostModelled)) {
    if (!std::isnan(running.encoded[variable].x)) rest.add(running.encoded.data(), 1);
  }
}

// Draws `count` candidates from the density of the good trials, and takes the one with the largest
// ratio of the two densities.
void MultivariateTpe::suggest_group(std::size_t g, std::size_t count, Point& point) {
  const TpeGroups& groups = history_.groups();
  const TpeGroups::Group& group = groups.groups()[g];
  TpeSide good_side, rest_side;
  split(g, good_side, rest_side);
  const ProductMixture good = tpe_density(groups, group, good_side, settings_.prior_weight);
  const ProductMixture rest = tpe_density(groups, group, rest_side, settings_.prior_weight);

  const std::size_t d = group.size();
  std::vector<double> candidates(count * d), score(count), against(count);
  for (std::size_t c = 0; c < count; ++c) {
    const std::span candidate = std::span(candidates).subspan(c * d, d);
    good.sample(rng_, candidate);
    for (std::size_t a = 0; a < d; ++a) {
      candidate[a] = groups.rounded(group[a], candidate[a], rng_);
    }
  }
  good.log_densities(candidates, score);
  rest.log_densities(candidates, against);
  for (std::size_t c = 0; c < count; ++c) score[c] -= against[c];
  const auto best = static_cast<std::size_t>(std::ranges::max_element(score) - score.begin());
  for (std::size_t a = 0; a < d; ++a) {
    for (const std::size_t i : groups.variables()[group[a]].params) {
      if (is_active(space_, point, i)) {
        point.values[i] = groups.value(group[a], candidates[best * d + a]);
      }
    }
  }
}

json MultivariateTpe::save() const {
  return {{"rng", to_json(rng_)},
          {"seen", dedup_.save()},
          {"history", history_.save()},
          {"running", running_.save()}};
}

Result<void> MultivariateTpe::load(const json& state) {
  MultivariateTpe loaded(settings_, objectives_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(space_));
  TRY(loaded.dedup_.load(TRY(object_at(state, "seen"))));
  TRY(loaded.history_.load(space_, TRY(object_at(state, "history"))));
  TRY(loaded.running_.load(space_, TRY(array_at(state, "running")),
                           [&](const Point& point) { return encoded(point); }));
  *this = std::move(loaded);
  return {};
}

}  // namespace

std::vector<Argument> multivariate_tpe_arguments() {
  using enum Argument::Type;
  return {{.name = "n_startup_jobs",
           .type = integer,
           .fallback = 10,
           .help = "random trials before anything is modelled",
           .low = 0,
           .high = 1e9},
          {.name = "n_ei_candidates",
           .type = integer,
           .fallback = 48,
           .help = "candidates drawn for each suggestion",
           .low = 1,
           .high = 100000},
          {.name = "gamma",
           .type = number,
           .fallback = 0.15,
           .help = "of n results gamma * n, at most 25, count as good",
           .low = 0.001,
           .high = 1},
          {.name = "prior_weight",
           .type = number,
           .fallback = 1.0,
           .help = "weight of the declared distribution, in observations",
           .low = 1e-6,
           .high = 1e6}};
}

std::unique_ptr<Tuner> make_multivariate_tpe(const json& args, const Context& context, Rng rng) {
  MultivariateSettings settings;
  settings.startup = args["n_startup_jobs"];
  settings.candidates = args["n_ei_candidates"];
  settings.gamma = args["gamma"];
  settings.prior_weight = args["prior_weight"];
  return std::make_unique<MultivariateTpe>(settings, Objectives(context), rng);
}

}  // namespace attune
