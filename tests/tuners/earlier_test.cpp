// Tuners that learn from earlier experiments.
#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "base/saved_numbers.h"
#include "space/sample.h"
#include "tests/tuners/tuner_world.h"

namespace attune::earlier_test {

using Values = std::vector<double>;

// Nearly the problem of tuner_world.h.
double related(const Values& v) {
  return std::pow(v[0] - 0.58, 2) + std::pow(v[1] - 0.32, 2) + (v[2] == 2 ? 0 : 0.3);
}
double foreign(const Values& v) {
  return std::pow(v[0] - 0.05, 2) + std::pow(v[1] - 0.95, 2) + (v[2] == 0 ? 0 : 0.3);
}

template <class Loss>
EarlierTask task(const Space& space, Loss&& loss, std::uint64_t seed) {
  EarlierTask task{.name = "t", .points = {}, .losses = {}};
  Rng rng(seed);
  for (int i = 0; i < 40; ++i) {
    task.points.push_back(sample(space, rng));
    task.losses.push_back(1000 * loss(task.points.back().values));
  }
  return task;
}

struct World : TunerWorld {
  World(const std::string& name, std::uint64_t seed, std::vector<EarlierTask> its = {})
      : TunerWorld(name, kQuadratic, {{"optimize_mode", "minimize"}}, seed), tasks(std::move(its)) {
    if (!tasks.empty()) starts = tuner->learn_from(tasks);
  }
  // As the dispatcher does.
  Values next_values() {
    if (given >= starts.size()) return values();
    tuner->adopt(next++, starts[given]);
    return starts[given++].values;
  }
  std::vector<Values> go(int count) {
    std::vector<Values> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(next_values());
      completed(next - 1, all.back(), quadratic(all.back()));
    }
    return all;
  }
  double lowest(int trials) {
    double lowest = 1e300;
    for (const Values& each : go(trials)) lowest = std::min(lowest, quadratic(each));
    return lowest;
  }

  std::vector<EarlierTask> tasks;
  std::vector<Point> starts;
  std::size_t given = 0;
};

std::vector<EarlierTask> several(double (*loss)(const Values&)) {
  const Space space = parse_space(parse_json(kQuadratic).value()).value();
  return {task(space, loss, 1), task(space, loss, 2)};
}

double median_of_lowest(const std::string& tuner, int trials,
                        const std::vector<EarlierTask>& tasks) {
  std::vector<double> all;
  for (std::uint64_t seed = 1; seed <= 7; ++seed)
    all.push_back(World(tuner, seed, tasks).lowest(trials));
  std::ranges::sort(all);
  return all[3];
}

TEST_CASE("earlier: with related experiments the first trials are better") {
  const std::string tuner = GENERATE("GP", "TuRBO", "auto");
  CAPTURE(tuner);
  const double cold = median_of_lowest(tuner, 5, {});
  const double warm = median_of_lowest(tuner, 5, several(related));
  CAPTURE(cold, warm);
  CHECK(warm < 0.3 * cold);
}

TEST_CASE("earlier: foreign experiments do not mislead") {
  const std::string tuner = GENERATE("GP", "TuRBO", "auto");
  CAPTURE(tuner);
  CHECK(median_of_lowest(tuner, 40, several(foreign)) < 1e-3);
}

TEST_CASE("earlier: saved and loaded anywhere, the answers are the same") {
  const std::string tuner = GENERATE("GP", "TuRBO", "auto");
  const int before = GENERATE(0, 2, 3, 5, 6, 13, 22);
  CAPTURE(tuner, before);
  const auto tasks = several(related);
  World first(tuner, 5, tasks);
  first.go(before);
  World second(tuner, 99, tasks);
  REQUIRE(second.tuner->load(parse_json(dump_json(first.tuner->save())).value()));
  second.next = first.next;
  second.given = first.given;
  CHECK(second.go(12) == first.go(12));
  CHECK(dump_json(first.tuner->save()) == dump_json(second.tuner->save()));
}

TEST_CASE("earlier: behind the best points of earlier experiments comes the middle") {
  World world(GENERATE("GP", "TuRBO", "auto"), 3, several(foreign));
  world.go(static_cast<int>(world.starts.size()));
  const Values third = world.next_values();
  CHECK(third[0] == 0.5);
  CHECK(third[1] == 0.5);
}

TEST_CASE("earlier: a new space forgets them until they are told again") {
  const std::string tuner = GENERATE("GP", "TuRBO", "auto");
  CAPTURE(tuner);
  World world(tuner, 3, several(related)), plain(tuner, 3);
  REQUIRE(world.tuner->set_space(world.space));
  world.starts.clear();
  CHECK(world.go(12) == plain.go(12));
}

}  // namespace attune::earlier_test
