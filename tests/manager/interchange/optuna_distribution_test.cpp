#include "manager/interchange/optuna_distribution.h"

#include <catch2/catch.hpp>

#include "space/parse.h"

namespace attune::optuna_distribution_test {

struct Described {
  json distribution;
  std::vector<std::string> losses;
};

Described described(const char* type, const json& value) {
  const Space space = parse_space({{"p", {{"_type", type}, {"_value", value}}}}).value();
  Losses losses;
  const auto found = optuna_distribution(space.params[0].domain, "p", losses);
  return {found.value_or(json()), losses.all()};
}

json real(double low, double high, bool log, const json& step = nullptr) {
  return {{"name", "FloatDistribution"},
          {"attributes", {{"step", step}, {"low", low}, {"high", high}, {"log", log}}}};
}

json integer(int low, int high, bool log) {
  return {{"name", "IntDistribution"},
          {"attributes", {{"log", log}, {"step", 1}, {"low", low}, {"high", high}}}};
}

TEST_CASE("optuna distribution: what Optuna has") {
  for (const auto& [type, value, expected] : std::vector<std::tuple<const char*, json, json>>{
           {"uniform", {0, 1}, real(0, 1, false)},
           {"loguniform", {0.001, 1}, real(0.001, 1, true)},
           {"quniform", {0.5, 2, 0.25}, real(0.5, 2, false, 0.25)},
           {"randint", {1, 9}, integer(1, 8, false)},
           {"qloguniform", {1, 64, 1}, integer(1, 64, true)},
           {"choice",
            {nullptr, true, 2, 0.5, "a"},
            {{"name", "CategoricalDistribution"},
             {"attributes", {{"choices", {nullptr, true, 2, 0.5, "a"}}}}}}}) {
    INFO(type);
    const Described found = described(type, value);
    CHECK(found.distribution == expected);
    CHECK(found.losses.empty());
  }
}

TEST_CASE("optuna distribution: the nearest, and what is lost") {
  for (const auto& [type, value, expected] : std::vector<std::tuple<const char*, json, json>>{
           {"quniform", {0, 1, 0.6}, real(0, 1, false)},  // 0, 0.6 and 1
           {"qloguniform", {2, 8, 2}, real(2, 8, true)},
           {"normal", {1, 0.5}, real(-3, 5, false)},
           {"qnormal", {0, 0.3, 0.5}, real(-2.5, 2.5, false, 0.5)},
           {"lognormal", {0, 0}, real(1, 1, true)},
           {"choice",
            json::array({json::array({1, 2}), "x"}),
            {{"name", "CategoricalDistribution"}, {"attributes", {{"choices", {"[1,2]", "x"}}}}}},
           {"input_choice", {{"candidates", {1, 2}}, {"n_chosen", 1}}, nullptr}}) {
    INFO(type);
    const Described found = described(type, value);
    CHECK(found.distribution == expected);
    REQUIRE(found.losses.size() == 1);
    CHECK(found.losses[0].starts_with("p: "));
  }
}

TEST_CASE("optuna distribution: a number beyond the bounds of a normal widens them") {
  CHECK(widened(real(-8, 8, false), 9) == real(-8, 9, false));
  CHECK(widened(real(-8, 8, false), -9) == real(-9, 8, false));
  CHECK(widened(integer(1, 8, false), 8) == integer(1, 8, false));
}

}  // namespace attune::optuna_distribution_test
