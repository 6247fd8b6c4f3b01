// NSGA-II: a genetic algorithm whose population spreads along the best trade-offs.
//
// Source: Deb, Pratap, Agarwal, Meyarivan, "A Fast and Elitist Multiobjective Genetic Algorithm:
// NSGA-II" (IEEE TEC 2002), but without generations. The population is the best of everything told
// so far, and each new result removes the worst (Durillo, Nebro, Luna, Alba, "On the Effect of the
// Steady-State Selection Scheme in Multi-Objective Genetic Algorithms", EMO 2009). So no request
// waits for others, results may come in any order, and crowding is renewed after each result.
//
// With one objective the crowded comparison is that of the losses. A result that breaks a limit is
// worse than one that keeps all (section VI of the paper).
#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "space/dedup.h"
#include "space/sample.h"
#include "space/saved_point.h"
#include "tuners/parts/objectives.h"
#include "tuners/parts/offspring.h"
#include "tuners/registry.h"

namespace attune {
namespace nsga2_tuner {
namespace {

// Points that are made, at most, until one is new and breaks no constraint.
constexpr int kAttempts = 50;

struct Settings {
  std::size_t population = 0;
  Variation variation;
};

class Nsga2 final : public Tuner {
 public:
  Nsga2(const Settings& settings, Objectives objectives, Rng rng)
      : settings_(settings), objectives_(std::move(objectives)), rng_(rng) {}

  Result<void> set_space(const Space& space) override {
    space_ = space;
    offspring_ = Offspring(space, settings_.variation);
    dedup_ = Deduplicator(space, Deduplicator::Remember::always);
    points_.clear();
    values_.clear();
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId) -> Answer {
      auto point = dedup_(next());
      if (!point) return Exhausted{};
      return Proposal{.point = *std::move(point)};
    });
  }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) {
      dedup_.add(outcome.point);
      if (const auto values = objectives_(outcome)) add(outcome.point, *values);
    }
  }

  void adopt(TrialId, const Point& point) override { dedup_.add(point); }

  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  Point next();
  void add(const Point& point, const std::vector<double>& values);

  std::size_t width() const { return objectives_.size() + objectives_.limits(); }

  // The better of two random members: the population is sorted, so the smaller index is better.
  const Point& parent() {
    const std::size_t a = rng_.index(points_.size());
    return points_[std::min(a, rng_.index(points_.size()))];
  }

  Settings settings_;
  Objectives objectives_;
  Rng rng_;
  Space space_;
  Offspring offspring_{Space{}, {}};
  Deduplicator dedup_{Space{}};
  std::vector<Point> points_;   // the population, the best first
  std::vector<double> values_;  // of each point, width() numbers that objectives_ returned
};

// Makes points until one is new and breaks no constraint. In a nearly used-up space there may be
// none; then it returns the last one.
Point Nsga2::next() {
  const bool is_random = points_.size() < settings_.population;
  Point point;
  for (int i = 0; i < kAttempts; ++i) {
    if (is_random) {
      point = sample(space_, rng_);
    } else {
      const Point& first = parent();
      const Point& second = parent();
      point = offspring_(first, second, rng_);
      if (point == first || point == second) continue;
    }
    if (!dedup_.repeats(point) && space_.feasible(point)) break;
  }
  return point;
}

void Nsga2::add(const Point& point, const std::vector<double>& values) {
  // The newcomer goes to the front, because ranking() prefers the first of equal ones: so the
  // population keeps moving on a plateau.
  points_.insert(points_.begin(), point);
  values_.insert(values_.begin(), values.begin(), values.end());
  std::vector<std::size_t> order = ranking(values_, objectives_.size(), objectives_.limits());
  if (order.size() > settings_.population) order.pop_back();
  std::vector<Point> points;
  std::vector<double> sorted;
  points.reserve(order.size() + 1);
  sorted.reserve(values_.size());
  for (const std::size_t i : order) {
    points.push_back(std::move(points_[i]));
    const auto row = std::span(values_).subspan(i * width(), width());
    sorted.insert(sorted.end(), row.begin(), row.end());
  }
  points_ = std::move(points);
  values_ = std::move(sorted);
}

json Nsga2::save() const {
  std::vector<const Point*> points;
  for (const Point& point : points_) points.push_back(&point);
  return {{"rng", to_json(rng_)},
          {"seen", dedup_.save()},
          {"objectives", save_numbers(values_)},
          {"points", save_points(points)}};
}

Result<void> Nsga2::load(const json& state) {
  Nsga2 loaded(settings_, objectives_, TRY(rng_from_json(TRY(array_at(state, "rng")))));
  TRY(loaded.set_space(space_));
  TRY(loaded.dedup_.load(TRY(object_at(state, "seen"))));
  loaded.values_ = TRY(numbers_at(state, "objectives"));
  const std::size_t n = loaded.values_.size() / width();
  if (loaded.values_.size() % width() != 0 || n > settings_.population ||
      !std::ranges::all_of(loaded.values_, [](double x) { return std::isfinite(x); })) {
    return fail("saved state: an impossible population");
  }
  loaded.points_ = TRY(load_points(space_, TRY(value_at(state, "points")), n));
  *this = std::move(loaded);
  return {};
}

Argument probability(std::string name, json fallback, std::string help) {
  return {.name = std::move(name),
          .type = Argument::Type::number,
          .fallback = std::move(fallback),
          .help = std::move(help),
          .low = 0,
          .high = 1};
}

Argument eta(std::string name, double fallback, std::string help) {
  return {.name = std::move(name),
          .type = Argument::Type::number,
          .fallback = fallback,
          .help = std::move(help),
          .low = 0,
          .high = 1000};
}

}  // namespace
}  // namespace nsga2_tuner

extern const TunerEntry nsga2_entry = {
    .name = "NSGAII",
    .aliases = {"NSGA2", "NSGA-II", "NSGA2Tuner"},
    .summary = "genetic algorithm for several objectives: spreads along the best trade-offs",
    .arguments = {{.name = "population_size",
                   .type = Argument::Type::integer,
                   .fallback = 20,
                   .help = "results that may have children; as many are random at first",
                   .low = 1,
                   .high = 1000},
                  nsga2_tuner::probability("crossover_prob", 0.9,
                                           "share of children that have two parents"),
                  nsga2_tuner::probability("swapping_prob", 1,
                                           "share of the parameters that a crossover crosses"),
                  nsga2_tuner::probability(
                      "mutation_prob", nullptr,
                      "of a parameter to mutate; null: 1 / (active parameters)"),
                  nsga2_tuner::eta("crossover_eta", 20, "larger: children nearer to their parents"),
                  nsga2_tuner::eta("mutation_eta", 5, "larger: smaller mutations")},
    .make = [](const json& args, const Context& context,
               Rng rng) -> Result<std::unique_ptr<Tuner>> {
      nsga2_tuner::Settings settings;
      settings.population = args["population_size"].get<std::size_t>();
      settings.variation = {.crossover = args["crossover_prob"].get<double>(),
                            .swapping = args["swapping_prob"].get<double>(),
                            .mutation = {},
                            .crossover_eta = args["crossover_eta"].get<double>(),
                            .mutation_eta = args["mutation_eta"].get<double>()};
      if (!args["mutation_prob"].is_null()) {
        settings.variation.mutation = args["mutation_prob"].get<double>();
      }
      return std::make_unique<nsga2_tuner::Nsga2>(settings, Objectives(context), rng);
    }};

}  // namespace attune
