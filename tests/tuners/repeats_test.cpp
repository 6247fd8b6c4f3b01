// A configuration is not worth a second trial, in continuous spaces either: there the same one
// comes again where reals are cut off at a bound, and where a mutation changes only a choice.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "tests/tuners/tuner_world.h"

namespace attune::repeats_test {

struct Problem {
  std::string name;
  std::string space;
  double (*loss)(const std::vector<double>&);
};

const std::vector<Problem>& problems() {
  static const std::vector<Problem> all = {
      {"an optimum in a corner", R"({"x": {"_type": "uniform", "_value": [0, 1]},
                                     "y": {"_type": "uniform", "_value": [0, 1]}})",
       [](const std::vector<double>& v) { return v[0] + v[1]; }},
      {"few choices and one real", R"({"lr": {"_type": "loguniform", "_value": [1e-5, 1]},
                                       "a": {"_type": "choice", "_value": ["p", "q"]},
                                       "b": {"_type": "choice", "_value": ["u", "v", "w"]},
                                       "n": {"_type": "randint", "_value": [1, 5]}})",
       [](const std::vector<double>& v) {
         return std::pow(std::log10(v[0]) + 2, 2) + v[1] + v[2] + v[3];
       }}};
  return all;
}

int repeats(TunerWorld& world, const Problem& problem, int trials) {
  std::set<std::vector<double>> seen;
  for (int i = 0; i < trials; ++i) {
    const std::vector<double> values = world.values();
    seen.insert(values);
    world.completed(world.next - 1, values, problem.loss(values));
  }
  return trials - static_cast<int>(seen.size());
}

TEST_CASE("tuners: no configuration twice in a continuous space") {
  const std::string name = GENERATE("CMA-ES", "Evolution", "RegularizedEvolution", "NSGAII",
                                    "Anneal", "TPE", "Random", "QMC");
  for (const Problem& problem : problems()) {
    CAPTURE(name, problem.name);
    TunerWorld world(name, problem.space);
    CHECK(repeats(world, problem, 300) == 0);
  }
}

}  // namespace attune::repeats_test
