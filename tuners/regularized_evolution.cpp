// Aging evolution: the oldest individual leaves, whatever its result.
//
// Source: Real, Aggarwal, Huang, Le, "Regularized Evolution for Image Classifier Architecture
// Search" (AAAI 2019), algorithm 1, in NNI's form. First it tries as many random individuals as the
// population holds. Then it draws a sample, with replacement, from the newest results, and proposes
// a copy of the best of them with one parameter drawn again. A random individual that fails is
// replaced by another one.
#include <algorithm>
#include <cmath>
#include <deque>
#include <set>

#include "base/saved_numbers.h"
#include "space/dedup.h"
#include "space/sample.h"
#include "space/saved_point.h"
#include "tuners/parts/mutation.h"
#include "tuners/registry.h"

namespace attune {
namespace regularized_evolution_tuner {
namespace {

struct Settings {
  std::size_t population = 100;
  std::size_t sample = 25;
};

class RegularizedEvolution final : public Tuner {
 public:
  RegularizedEvolution(const Settings& settings, Rng rng) : settings_(settings), rng_(rng) {}

  Result<void> set_space(const Space& space) override {
    space_ = space;
    dedup_ = Deduplicator(space, Deduplicator::Remember::always);
    population_.clear();
    founders_.clear();
    fresh_ = settings_.population;
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) -> Answer {
      if (founders_.erase(id) > 0) ++fresh_;  // an earlier proposal was not carried out
      const bool random = fresh_ > 0 || population_.empty();
      auto point = dedup_(random ? sample(space_, rng_) : child());
      if (!point) return Exhausted{};
      if (fresh_ > 0) {
        --fresh_;
        founders_.insert(id);
      }
      return Proposal{.point = *std::move(point)};
    });
  }

  void withdraw(TrialId id) override {
    if (founders_.erase(id) > 0) ++fresh_;
  }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) {
      dedup_.add(outcome.point);
      const bool founder = outcome.end != End::imported && founders_.erase(outcome.trial) > 0;
      if (outcome.usable()) {
        // An import replaces a random individual that is still to come.
        if (outcome.end == End::imported && fresh_ > 0) --fresh_;
        population_.push_back({outcome.point, *outcome.loss});
        if (population_.size() > settings_.population) population_.pop_front();
      } else if (founder) {
        ++fresh_;
      }
    }
  }

  void adopt(TrialId, const Point& point) override { dedup_.add(point); }

  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  struct Individual {
    Point point;
    double loss = 0;
  };

  Point child();

  Settings settings_;
  Rng rng_;
  Space space_;
  Deduplicator dedup_{Space{}};
  std::deque<Individual> population_;  // oldest result first
  std::set<TrialId> founders_;         // random individuals that are running
  std::size_t fresh_ = 0;              // random individuals still to be proposed
};

Point RegularizedEvolution::child() {
  const Individual* parent = &population_[rng_.index(population_.size())];
  for (std::size_t i = 1; i < settings_.sample; ++i) {
    const Individual& other = population_[rng_.index(population_.size())];
    if (other.loss < parent->loss) parent = &other;
  }
  return mutated(space_, dedup_, parent->point, rng_);
}

json RegularizedEvolution::save() const {
  std::vector<double> losses;
  std::vector<const Point*> points;
  for (const Individual& one : population_) {
    losses.push_back(one.loss);
    points.push_back(&one.point);
  }
  return {{"rng", to_json(rng_)},           {"seen", dedup_.save()},
          {"losses", save_numbers(losses)}, {"points", save_points(points)},
          {"founders", founders_},          {"fresh", fresh_}};
}

Result<void> RegularizedEvolution::load(const json& state) {
  RegularizedEvolution loaded(settings_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(space_));
  TRY(loaded.dedup_.load(TRY(object_at(state, "seen"))));
  const auto losses = TRY(numbers_at(state, "losses"));
  auto points = TRY(load_points(space_, TRY(value_at(state, "points")), losses.size()));
  const std::int64_t fresh = TRY(integer_at(state, "fresh"));
  if (losses.size() > settings_.population || fresh < 0 ||
      fresh > static_cast<std::int64_t>(settings_.population) ||
      !std::ranges::all_of(losses, [](double loss) { return std::isfinite(loss); })) {
    return fail("saved state: an impossible population");
  }
  for (std::size_t i = 0; i < losses.size(); ++i) {
    loaded.population_.push_back({std::move(points[i]), losses[i]});
  }
  loaded.founders_ = TRY(trials_at(state, "founders"));
  loaded.fresh_ = static_cast<std::size_t>(fresh);
  *this = std::move(loaded);
  return {};
}

}  // namespace
}  // namespace regularized_evolution_tuner

extern const TunerEntry regularized_evolution_entry = {
    .name = "RegularizedEvolution",
    .aliases = {"RegularizedEvolutionTuner"},
    .summary = "aging evolution: children of the best of a sample, the oldest leaves",
    .arguments = {{.name = "population_size",
                   .type = Argument::Type::integer,
                   .fallback = 100,
                   .help = "results that may have children; as many are random at first",
                   .low = 1,
                   .high = 99999},
                  {.name = "sample_size",
                   .type = Argument::Type::integer,
                   .fallback = 25,
                   .help = "how many of them are drawn for the best one to be the parent",
                   .low = 1,
                   .high = 99999}},
    .maximizes = true,
    .make = [](const json& args, const Context&, Rng rng) -> Result<std::unique_ptr<Tuner>> {
      const regularized_evolution_tuner::Settings settings = {
          args["population_size"].get<std::size_t>(), args["sample_size"].get<std::size_t>()};
      return std::make_unique<regularized_evolution_tuner::RegularizedEvolution>(settings, rng);
    }};

}  // namespace attune
