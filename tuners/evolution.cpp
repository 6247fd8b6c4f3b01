// Evolution by tournaments of two: the winner stays and has a mutated child, the loser leaves.
//
// Source: Real et al., "Large-Scale Evolution of Image Classifiers" (ICML 2017), section 3.1, in
// NNI's form. First it tries as many random individuals as the population holds. Then it draws two
// at random, removes the worse one, and proposes a copy of the other with one active parameter
// drawn again.
//
// An individual with a result is in the population; one without a result is running or not drawn
// yet. A failed trial is replaced by a new random individual.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/saved_numbers.h"
#include "space/dedup.h"
#include "space/sample.h"
#include "space/saved_point.h"
#include "tuners/parts/mutation.h"
#include "tuners/registry.h"

namespace attune {
namespace evolution_tuner {
namespace {

class Evolution final : public Tuner {
 public:
  Evolution(std::size_t capacity, Rng rng) : capacity_(capacity), rng_(rng) {}

  Result<void> set_space(const Space& space) override {
    space_ = space;
    dedup_ = Deduplicator(space, Deduplicator::Remember::always);
    population_.clear();
    running_.clear();
    fresh_ = capacity_;
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) {
      if (running_.size() >= capacity_) return Answer(NotYet{});
      if (fresh_ > 0) return random_individual(id);
      if (!population_.empty()) return child(id);
      return Answer(NotYet{});  // all individuals are running
    });
  }

  void withdraw(TrialId id) override {
    if (running_.erase(id) > 0) ++fresh_;
  }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) {
      dedup_.add(outcome.point);
      const bool own = outcome.end != End::imported && running_.erase(outcome.trial) > 0;
      if (outcome.usable()) {
        Individual individual{outcome.point, *outcome.loss};
        if (own) {
          population_.push_back(std::move(individual));
        } else {
          immigrate(std::move(individual));
        }
      } else if (own) {
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

  Answer random_individual(TrialId id) {
    auto point = dedup_(sample(space_, rng_));
    if (!point) return Exhausted{};
    --fresh_;
    running_.insert(id);
    return Proposal{.point = *std::move(point)};
  }

  Answer child(TrialId id);
  void immigrate(Individual individual);

  std::size_t capacity_;
  Rng rng_;
  Space space_;
  Deduplicator dedup_{Space{}};
  std::vector<Individual> population_;  // those with a result
  std::set<TrialId> running_;           // trials that were proposed here
  std::size_t fresh_ = 0;               // random individuals still to be proposed
};

Answer Evolution::child(TrialId id) {
  // Draws two different members.
  const std::size_t n = population_.size();
  std::size_t winner = rng_.index(n);
  std::size_t loser = winner;
  if (n >= 2) {
    loser = rng_.index(n - 1);
    loser += loser >= winner ? 1 : 0;
    if (population_[winner].loss > population_[loser].loss) std::swap(winner, loser);
  }

  // mutated() avoids points that break a constraint: such a child would be withdrawn, and a random
  // individual would replace it.
  Point next = mutated(space_, dedup_, population_[winner].point, rng_);
  auto point = dedup_(std::move(next));
  if (!point) return Exhausted{};
  if (loser != winner) population_.erase(population_.begin() + static_cast<std::ptrdiff_t>(loser));
  running_.insert(id);
  return Proposal{.point = *std::move(point)};
}

// Adds an individual that was not proposed here. It replaces a random individual that is still to
// come; if there is none, the worst one leaves. So of a long list of imports the best ones stay,
// and the population does not grow.
void Evolution::immigrate(Individual individual) {
  if (fresh_ > 0) --fresh_;
  population_.push_back(std::move(individual));
  if (population_.size() + running_.size() + fresh_ <= capacity_ || population_.size() < 2) return;
  population_.erase(std::ranges::max_element(population_, {}, &Individual::loss));
}

json Evolution::save() const {
  json population = json::array();
  for (const Individual& one : population_) {
    population.push_back({{"loss", one.loss}, {"point", save_point(one.point)}});
  }
  return {{"rng", to_json(rng_)},
          {"seen", dedup_.save()},
          {"population", population},
          {"running", running_},
          {"fresh", fresh_}};
}

Result<void> Evolution::load(const json& state) {
  Evolution loaded(capacity_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(space_));
  TRY(loaded.dedup_.load(TRY(object_at(state, "seen"))));
  for (const json& one : TRY(array_at(state, "population"))) {
    const double loss = TRY(number_at(one, "loss"));
    if (!std::isfinite(loss)) return fail("saved state: the loss of an individual must be finite");
    loaded.population_.push_back({TRY(load_point(space_, TRY(value_at(one, "point")))), loss});
  }
  loaded.running_ = TRY(trials_at(state, "running"));
  const std::int64_t fresh = TRY(integer_at(state, "fresh"));
  // Without any individual, every ask() would answer NotYet for ever.
  const bool alive = fresh > 0 || !loaded.population_.empty() || !loaded.running_.empty();
  if (fresh < 0 || fresh > static_cast<std::int64_t>(capacity_) || !alive) {
    return fail("saved state: a population without individuals");
  }
  loaded.fresh_ = static_cast<std::size_t>(fresh);
  *this = std::move(loaded);
  return {};
}

}  // namespace
}  // namespace evolution_tuner

extern const TunerEntry evolution_entry = {
    .name = "Evolution",
    .aliases = {},
    .summary = "tournaments of two in a population: the winner is mutated, the loser leaves",
    .arguments = {{.name = "population_size",
                   .type = Argument::Type::integer,
                   .fallback = 32,
                   .help = "individuals; also the most trials that run at a time",
                   .low = 1,
                   .high = 99999}},
    .maximizes = true,
    .make = [](const json& args, const Context&, Rng rng) -> Result<std::unique_ptr<Tuner>> {
      return std::make_unique<evolution_tuner::Evolution>(
          args["population_size"].get<std::size_t>(), rng);
    }};

}  // namespace attune
