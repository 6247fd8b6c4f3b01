// A tuner that models must beat one that does not, on functions where there is something to model.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "space/parse.h"
#include "tuners/registry.h"

namespace attune::quality_test {

struct Function {
  std::string name, space;
  int trials;
  std::function<double(const json&)> loss;
};

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"Branin (two reals)",
       R"({"x": {"_type": "uniform", "_value": [-5, 10]},
           "y": {"_type": "uniform", "_value": [0, 15]}})",
       80,
       [](const json& p) {
         const double x = p["x"], y = p["y"];
         const double a = y - 5.1 / (4 * M_PI * M_PI) * x * x + 5 / M_PI * x - 6;
         return a * a + 10 * (1 - 1 / (8 * M_PI)) * std::cos(x) + 10;
       }},
      {"sphere (six reals)",
       R"({"a": {"_type": "uniform", "_value": [-5, 5]}, "b": {"_type": "uniform", "_value": [-5, 5]},
           "c": {"_type": "uniform", "_value": [-5, 5]}, "d": {"_type": "uniform", "_value": [-5, 5]},
           "e": {"_type": "uniform", "_value": [-5, 5]}, "f": {"_type": "uniform", "_value": [-5, 5]}
          })",
       100,
       [](const json& p) {
         double sum = 0;
         for (const json& x : p) sum += std::pow(x.get<double>() - 1, 2);
         return sum;
       }},
      {"a learning curve (logarithm, wide and narrow integers, nested choice)",
       R"({"lr": {"_type": "loguniform", "_value": [1e-6, 1]},
           "width": {"_type": "randint", "_value": [1, 2000]},
           "layers": {"_type": "randint", "_value": [1, 8]},
           "optimizer": {"_type": "choice", "_value": [
             {"_name": "sgd", "momentum": {"_type": "uniform", "_value": [0, 1]}},
             {"_name": "adam", "beta": {"_type": "quniform", "_value": [0.5, 1, 0.01]}},
             {"_name": "none"}]}})",
       100,
       [](const json& p) {
         double loss = std::pow(std::log10(p["lr"].get<double>()) + 3, 2) / 4;
         loss += std::abs(std::log2(p["width"].get<double>() / 300));
         loss += std::abs(p["layers"].get<double>() - 3) / 4;
         const json& optimizer = p["optimizer"];
         if (optimizer["_name"] == "none") return loss + 2;
         if (optimizer["_name"] == "adam") {
           return loss + 4 * std::abs(optimizer["beta"].get<double>() - 0.9);
         }
         return loss + 0.3 + std::abs(optimizer["momentum"].get<double>() - 0.95);
       }},
  };
  return all;
}

// The mean over 20 seeds of the best loss; four trials run at a time.
double mean_best(const std::string& tuner, const Function& function) {
  const Space space = parse_space(parse_json(function.space).value()).value();
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto made = make_tuner(builtin_tuners(), tuner, {}, {}, seed).value();
    REQUIRE(made.tuner->set_space(space));
    double best = INFINITY;
    for (TrialId id = 0; id < function.trials; id += 4) {
      const std::vector<TrialId> ids = {id, id + 1, id + 2, id + 3};
      const auto answers = made.tuner->ask(ids);
      std::vector<Outcome> outcomes;
      for (std::size_t i = 0; i < 4; ++i) {
        const Point point = std::get<Proposal>(answers[i]).point;
        const double loss = function.loss(to_json(space, point));
        best = std::min(best, loss);
        outcomes.push_back({ids[i], point, loss, {}, End::completed, {}});
      }
      made.tuner->tell(outcomes);
    }
    sum += best;
  }
  return sum / 20;
}

TEST_CASE("tuners that learn beat random search in the mean of 20 seeds") {
  for (const Function& function : functions()) {
    const double random = mean_best("Random", function);
    for (const std::string name : {"TPE", "Anneal", "Evolution"}) {
      const double learned = mean_best(name, function);
      CAPTURE(function.name, name, random, learned);
      CHECK(learned < random);
    }
  }
}

}  // namespace attune::quality_test
