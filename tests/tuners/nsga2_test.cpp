#include <cmath>
#include <map>

#include "base/saved_numbers.h"
#include "math/hypervolume.h"
#include "space/constraint.h"
#include "tests/tuners/tuner_world.h"

namespace attune::nsga2_test {

const std::string kTwoReals = R"({"a": {"_type": "uniform", "_value": [0, 1]},
                                  "b": {"_type": "uniform", "_value": [0, 1]}})";

// An experiment of several objectives: "first" is minimised, "second" maximised.
struct Experiment {
  std::unique_ptr<Tuner> tuner;
  Space space;
  TrialId next = 0;
  std::vector<double> rows;  // minimised

  explicit Experiment(const std::string& text, const json& arguments = {}, std::uint64_t seed = 1)
      : space(parse_space(parse_json(text).value()).value()) {
    Context context;
    context.objectives = {{"first", false}, {"second", true}};
    auto made = make_tuner(builtin_tuners(), "NSGA-II", arguments, context, seed);
    if (!made) FAIL(made.error().message);
    tuner = std::move(made->tuner);
    REQUIRE(tuner->set_space(space));
  }

  Point ask() {
    const Answer answer = tuner->ask(std::vector<TrialId>{next++})[0];
    REQUIRE(std::holds_alternative<Proposal>(answer));
    return std::get<Proposal>(answer).point;
  }

  void tell(const Point& point, double first, double second) {
    const Outcome outcome = {next - 1,       point, first, {{"first", first}, {"second", second}},
                             End::completed, {}};
    tuner->tell(std::vector{outcome});
    rows.insert(rows.end(), {first, -second});
  }
};

TunerWorld single(const json& arguments, std::uint64_t seed = 1) {
  return {"NSGAII", kTwoReals, arguments, seed};
}

// The best of 150 trials of a bowl, by a tuner of one objective.
double best_of_bowl(const std::string& name, std::uint64_t seed) {
  TunerWorld world(name, kTwoReals, {}, seed);
  double best = HUGE_VAL;
  for (int i = 0; i < 150; ++i) {
    const auto x = world.values();
    const double loss = std::pow(x[0] - 0.3, 2) + std::pow(x[1] - 0.8, 2);
    best = std::min(best, loss);
    world.completed(world.next - 1, x, loss);
  }
  return best;
}

TEST_CASE("NSGAII: all of its names") {
  for (const std::string name : {"NSGAII", "nsgaii", "NSGA-II", "nsga-ii", "NSGA2", "NSGA2Tuner"}) {
    const auto made = make_tuner(builtin_tuners(), name, {}, {}, 1);
    REQUIRE(made);
    CHECK(made->name == "NSGAII");
  }
}

TEST_CASE("NSGAII: a trade-off is covered better than by random search") {
  // a = f1, and b = 0 is best: f2 = 1 - sqrt(a) + b.
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    std::map<bool, double> volumes;
    for (const bool is_random : {true, false}) {
      Experiment experiment(kTwoReals, {{"population_size", is_random ? 1000 : 20}}, seed);
      for (int i = 0; i < 150; ++i) {
        const Point point = experiment.ask();
        const double a = point.values[0], b = point.values[1];
        experiment.tell(point, a, std::sqrt(a) - 1 - b);
      }
      volumes[is_random] = hypervolume(experiment.rows, 2, std::vector<double>{1.1, 1.1});
    }
    CHECK(volumes[false] > volumes[true]);
    CHECK(volumes[false] > 0.8);  // of 0.8767
  }
}

TEST_CASE("NSGAII: with one objective it is a genetic algorithm") {
  double ours = 0, random = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    ours += best_of_bowl("NSGAII", seed);
    random += best_of_bowl("Random", seed);
  }
  CHECK(ours < random / 3);
}

TEST_CASE("NSGAII: parents are the best of everything that was told") {
  const json arguments = {{"population_size", 2}, {"crossover_prob", 0}, {"mutation_eta", 1000}};
  TunerWorld world = single(arguments);
  for (int i = 0; i < 100; ++i) world.imported({0.9, 0.9}, 5 + i);
  world.imported({0.1, 0.2}, 1);
  world.imported({0.1, 0.3}, 2);
  for (int i = 0; i < 100; ++i) world.imported({0.9, 0.9}, 5 + i);
  for (int i = 0; i < 50; ++i) {
    const auto child = world.values();
    CHECK(child[0] == Approx(0.1).margin(0.05));
    CHECK(child[1] == Approx(0.25).margin(0.1));
  }
}

TEST_CASE("NSGAII: requests never wait") {
  TunerWorld world = single({{"population_size", 3}});
  for (int i = 0; i < 200; ++i) {
    const auto x = world.values();
    if (i % 7 == 0) world.completed(world.next - 1, x, i);
  }
}

TEST_CASE("NSGAII: trials that failed have no children") {
  const json arguments = {{"population_size", 1}, {"crossover_prob", 0}, {"mutation_eta", 1000}};
  TunerWorld world = single(arguments);
  for (TrialId id = 0; id < 20; ++id) world.failed(id, {0.9, 0.9});
  world.imported({0.1, 0.2}, 1e300);
  for (TrialId id = 0; id < 20; ++id) world.failed(id, {0.9, 0.9});
  for (int i = 0; i < 30; ++i) CHECK(world.values()[0] == Approx(0.1).margin(0.05));
}

TEST_CASE("NSGAII: a result that lacks an objective does not count") {
  Experiment experiment(kTwoReals, {{"population_size", 1}, {"crossover_prob", 0}});
  const Point poor{{0.9, 0.9}}, good{{0.1, 0.2}};
  const auto tell = [&](const Point& point, double loss, Metrics metrics) {
    experiment.tuner->tell(
        std::vector{Outcome{kImportedTrial, point, loss, std::move(metrics), End::imported, {}}});
  };
  tell(poor, -5, {{"first", -5}});
  tell(poor, -5, {{"first", -5}, {"second", std::nan("")}});
  tell(good, 3, {{"first", 3}, {"second", 3}});
  tell(poor, -9, {});
  int near = 0;
  for (int i = 0; i < 40; ++i) {
    const Point child = experiment.ask();
    near += child.values[0] == 0.1 || child.values[1] == 0.2;
  }
  CHECK(near > 20);
}

TEST_CASE("NSGAII: one more objective is one more direction") {
  Experiment experiment(kTwoReals,
                        {{"population_size", 2}, {"crossover_prob", 0}, {"mutation_eta", 1000}});
  // The second is maximised: of the same first one 7 dominates -7.
  const Point good{{0.1, 0.2}}, poor{{0.9, 0.9}};
  experiment.tell(poor, 1, -7);
  experiment.tell(good, 1, 7);
  experiment.tell({{0.1, 0.25}}, 1, 6);
  experiment.tell(poor, 1, -6);
  for (int i = 0; i < 30; ++i) CHECK(experiment.ask().values[0] == Approx(0.1).margin(0.05));
}

TEST_CASE("NSGAII: what breaks a limit is worse than what keeps it") {
  const std::vector<Objective> objectives = {{.metric = "loss", .maximize = false},
                                             {.metric = "size", .maximize = false, .limit = 10}};
  const json arguments = {{"population_size", 1}, {"crossover_prob", 0}, {"mutation_eta", 1000}};
  TunerWorld world("NSGAII", kTwoReals, arguments, 1, objectives);
  world.completed(900, {0.9, 0.9}, Metrics{{"loss", -100}, {"size", 11}});
  world.completed(901, {0.1, 0.2}, Metrics{{"loss", 5}, {"size", 10}});
  world.completed(902, {0.9, 0.9}, Metrics{{"loss", -100}, {"size", 10.5}});
  for (int i = 0; i < 30; ++i) CHECK(world.values()[0] == Approx(0.1).margin(0.05));
}

TEST_CASE("NSGAII: magnitudes and equal results do no harm") {
  const double scale = GENERATE(1e300, 1e-300, 0.0);
  Experiment experiment(kTwoReals, {{"population_size", 10}});
  for (int i = 0; i < 60; ++i) {
    const Point point = experiment.ask();
    experiment.tell(point, (point.values[0] - 0.5) * scale, point.values[1] * scale);
  }
}

TEST_CASE("NSGAII: proposals keep the constraints where there is a way") {
  Space space = parse_space(parse_json(kTwoReals).value()).value();
  REQUIRE(set_constraints(space, {"a + b < 0.7"}));
  auto made = make_tuner(builtin_tuners(), "NSGAII", {{"population_size", 8}}, {}, 3);
  REQUIRE(made);
  REQUIRE(made->tuner->set_space(space));
  for (TrialId id = 0; id < 100; ++id) {
    const auto answer = made->tuner->ask(std::vector{id})[0];
    const Point& point = std::get<Proposal>(answer).point;
    REQUIRE(space.feasible(point));
    const double loss = -point.values[0] - point.values[1];
    made->tuner->tell(std::vector{Outcome{id, point, loss, {}, End::completed, {}}});
  }
}

TEST_CASE("NSGAII: states that cannot be are errors") {
  Experiment experiment(kTwoReals, {{"population_size", 4}});
  for (int i = 0; i < 10; ++i) {
    const Point point = experiment.ask();
    experiment.tell(point, point.values[0], point.values[1]);
  }
  const json good = experiment.tuner->save();
  REQUIRE(experiment.tuner->load(good));
  const auto refused = [&](const char* key, const json& value) {
    json damaged = good;
    damaged[key] = value;
    CHECK_FALSE(experiment.tuner->load(damaged));
    CHECK(experiment.tuner->save() == good);
  };
  const std::vector<double> odd(7, 1.0), many(10, 1.0), few(6, 1.0);
  refused("objectives", save_numbers(odd));
  refused("objectives", save_numbers(many));  // more than the population
  refused("objectives", save_numbers(few));   // fewer than points
  std::vector<double> wrong(8, 1.0);
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    wrong[3] = bad;
    refused("objectives", save_numbers(wrong));
  }
}

}  // namespace attune::nsga2_test
