#include "bench/quality/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "bench/quality/families.h"
#include "bench/quality/functions.h"
#include "bench/quality/parameters.h"

namespace attune::bench {
namespace {

json cube(std::size_t d) {
  json space = json::object();
  for (std::size_t i = 0; i < d; ++i) space[key(i)] = uniform(-5, 5);
  return space;
}

Problem of_reals(int number, std::size_t d, const Rng& rng) {
  auto function = real_function(number, d, rng.fork(fmt::format("{} {}", number, d)));
  return {.name = fmt::format("f{} d{}", number, d),
          .group = "reals",
          .space = cube(d),
          .value = [function, d](const json& p) { return function(reals(p, 0, d)); }};
}

// Only the first `active` of `d` dimensions matter.
Problem embedded(int number, std::size_t active, std::size_t d, const Rng& rng) {
  Problem problem = of_reals(number, active, rng);
  problem.name = fmt::format("f{} d{} of {}", number, active, d);
  problem.space = cube(d);
  return problem;
}

// `d` choices of `options` values each. Every choice has an effect, and neighbours in a random
// chain have one together. The best is found by dynamic programming along the chain.
Problem chain(std::size_t d, std::size_t options, double together, Rng rng) {
  struct Tables {
    std::vector<Values> single, pair;
  };
  auto tables = std::make_shared<Tables>();
  for (std::size_t i = 0; i < d; ++i) {
    Values single(options), pair(options * options);
    for (double& each : single) each = rng.normal();
    for (double& each : pair) each = together * rng.normal();
    tables->single.push_back(single);
    tables->pair.push_back(pair);
  }
  std::vector<std::size_t> order(d);
  for (std::size_t i = 0; i < d; ++i) order[i] = i;
  for (std::size_t i = d - 1; i > 0; --i) std::swap(order[i], order[rng.index(i + 1)]);

  Values least = tables->single[order[0]];
  for (std::size_t k = 1; k < d; ++k) {
    Values next(options);
    for (std::size_t b = 0; b < options; ++b) {
      double best = HUGE_VAL;
      for (std::size_t a = 0; a < options; ++a) {
        best = std::min(best, least[a] + tables->pair[k][a * options + b]);
      }
      next[b] = best + tables->single[order[k]][b];
    }
    least = next;
  }

  json space = json::object(), candidates = json::array();
  for (std::size_t b = 0; b < options; ++b) candidates.push_back(fmt::format("c{}", b));
  for (std::size_t i = 0; i < d; ++i) {
    space[key(i)] = {{"_type", "choice"}, {"_value", candidates}};
  }
  return {.name = fmt::format("chain {}x{} {}", d, options, together),
          .group = "categories",
          .space = space,
          .value =
              [tables, order, options](const json& p) {
                double sum = 0;
                std::size_t before = 0;
                for (std::size_t k = 0; k < order.size(); ++k) {
                  const std::string chosen = p[key(order[k])];
                  const std::size_t now = std::stoul(chosen.substr(1));
                  sum += tables->single[order[k]][now];
                  if (k > 0) sum += tables->pair[k][before * options + now];
                  before = now;
                }
                return sum;
              },
          .best = std::ranges::min(least)};
}

// `choices` choices of four options each shift the optimum of a function of `d` reals, and add to
// it; one integer and one real on a logarithmic scale belong to the function, too.
Problem mixed(int number, std::size_t d, std::size_t choices, Rng rng) {
  auto function = real_function(number, d + 2, rng.fork("function"));
  constexpr std::size_t kOptions = 4;
  auto cost = std::make_shared<Values>();
  auto shift = std::make_shared<Values>();
  for (std::size_t i = 0; i < choices * kOptions; ++i) {
    const bool best = i % kOptions == 2;
    cost->push_back(best ? 0 : rng.uniform(0.02, 0.4));
    shift->push_back(best ? 0 : rng.normal());
  }
  json space = cube(d);
  space["n"] = {{"_type", "randint"}, {"_value", json::array({0, 65})}};
  space["lr"] = {{"_type", "loguniform"}, {"_value", json::array({1e-5, 1.0})}};
  for (std::size_t i = 0; i < choices; ++i) {
    space[fmt::format("c{}", i)] = {{"_type", "choice"},
                                    {"_value", json::array({"a", "b", "c", "d"})}};
  }
  Values middle(d + 2, 1.5);
  const double scale = function(middle);  // a typical value
  return {.name = fmt::format("mixed f{} d{} c{}", number, d, choices),
          .group = "mixed",
          .space = space,
          .value =
              [=](const json& p) {
                Values x = reals(p, 0, d);
                x.push_back(p["n"].get<double>() * 10 / 64 - 5);
                x.push_back(std::log10(p["lr"].get<double>()) * 2 + 5);
                double factor = 1;
                for (std::size_t i = 0; i < choices; ++i) {
                  const std::string chosen = p[fmt::format("c{}", i)];
                  const auto at = i * kOptions + static_cast<std::size_t>(chosen[0] - 'a');
                  factor += (*cost)[at];
                  for (double& each : x) each = std::clamp(each + 0.5 * (*shift)[at], -5.0, 5.0);
                }
                return function(x) / scale + (factor - 1);
              },
          .best = 0};
}

// A root choice of `count` options. Each has parameters and a function of its own; the best of an
// option is its offset, and one option has none.
Problem branches(std::size_t count, std::span<const int> numbers, Rng rng) {
  struct Branch {
    RealFunction function;
    std::size_t d;
    double scale, offset;
  };
  auto all = std::make_shared<std::vector<Branch>>();
  json options = json::array();
  for (std::size_t b = 0; b < count; ++b) {
    const std::size_t d = 2 + rng.index(4);
    Branch branch{real_function(numbers[b % numbers.size()], d, rng.fork(key(b))), d, 1, 0};
    Rng draws = rng.fork("scale");
    Values found;
    for (int k = 0; k < 101; ++k) {
      Values x(d);
      for (double& each : x) each = draws.uniform(-5, 5);
      found.push_back(branch.function(x));
    }
    std::ranges::nth_element(found, found.begin() + 50);
    branch.scale = found[50];
    branch.offset = b == count / 2 ? 0 : rng.uniform(0.05, 0.4);
    json option = {{"_name", fmt::format("b{}", b)}};
    for (std::size_t i = 0; i < d; ++i) option[fmt::format("b{}x{}", b, i)] = uniform(-5, 5);
    options.push_back(option);
    all->push_back(std::move(branch));
  }
  return {.name = fmt::format("branches {}", count),
          .group = "branches",
          .space = {{"root", {{"_type", "choice"}, {"_value", options}}}},
          .value = [all](const json& p) {
            const json& chosen = p["root"];
            const std::string name = chosen["_name"];
            const std::size_t b = std::stoul(name.substr(1));
            const Branch& branch = (*all)[b];
            Values x;
            for (std::size_t i = 0; i < branch.d; ++i)
              x.push_back(chosen[fmt::format("b{}x{}", b, i)]);
            return branch.function(x) / branch.scale + branch.offset;
          }};
}

// Losses over decades: a power of a function, above a floor.
Problem decades(Problem problem, double power, double floor) {
  auto value = problem.value;
  problem.name = "decades " + problem.name;
  problem.group = "decades";
  problem.value = [=](const json& p) { return std::pow(value(p), power) + floor; };
  problem.best = floor;
  problem.decades = true;
  return problem;
}

// What is typical of 201 random configurations: the distance between the median and the best tenth.
double spread(const Problem& problem, std::size_t d, Rng rng) {
  Values found;
  for (int k = 0; k < 201; ++k) {
    json p = json::object();
    for (std::size_t i = 0; i < d; ++i) p[key(i)] = rng.uniform(-5, 5);
    found.push_back(problem.value(p));
  }
  std::ranges::sort(found);
  return found[100] - found[20];
}

Problem noisy(int number, std::size_t d, double share, const Rng& rng) {
  Problem problem = of_reals(number, d, rng);
  problem.noise = share * spread(problem, d, rng);
  problem.name += fmt::format(" noise {}", share);
  problem.group = "noise";
  return problem;
}

// Trials fail by chance or, if that is rare, also where the first two parameters are large. Then
// the best value may be out of reach: regrets compare tuners all the same.
Problem failing(int number, std::size_t d, double by_chance, const Rng& rng) {
  Problem problem = of_reals(number, d, rng);
  problem.name += fmt::format(" failing {}", by_chance);
  problem.group = "failures";
  const bool region = by_chance < 0.15;
  problem.failing = [=](const json& p) {
    const double sum = p["x0"].get<double>() + p["x1"].get<double>();
    return region && sum > 4.5 ? 1.0 : by_chance;
  };
  return problem;
}

// What the problems of a set are made of.
struct Ingredients {
  struct Reals {
    int number;
    std::size_t dimensions;
  };
  struct Embedded {
    int number;
    std::size_t active, dimensions;
  };
  struct Chain {
    std::size_t choices, options;
    double together;
  };
  struct Mixed {
    int number;
    std::size_t reals, choices;
  };
  struct Decades {
    Reals of;
    double power, floor;
  };
  struct Disturbed {  // by noise or by failures
    Reals of;
    double share;
  };

  std::uint64_t seed;
  std::vector<Reals> reals, large;
  std::vector<Embedded> embedded;
  std::vector<Chain> chains;
  std::vector<Mixed> mixed;
  std::vector<int> functions_of_branches;
  std::vector<std::size_t> branches;
  std::vector<Decades> decades;
  std::vector<Disturbed> noisy, failing;
};

Ingredients for_choice() {
  return {.seed = 1,
          .reals = {{3, 4}, {8, 6}, {10, 5}, {15, 10}, {17, 8}, {21, 3}, {1, 20}, {8, 20}},
          .large = {{1, 150}, {8, 200}, {15, 120}},
          .embedded = {{8, 6, 300}, {15, 8, 1000}},
          .chains = {{16, 4, 0.5}, {20, 5, 0.5}, {20, 2, 1.5}},
          .mixed = {{8, 3, 3}, {15, 4, 6}, {21, 2, 2}},
          .functions_of_branches = {8, 15, 10, 21, 17},
          .branches = {3, 5, 8},
          .decades = {{{10, 4}, 1, 1e-6}, {{8, 5}, 2, 1e-8}, {{1, 8}, 3, 1e-8}},
          .noisy = {{{8, 4}, 0.5},
                    {{15, 3}, 0.5},
                    {{1, 6}, 1},
                    {{3, 5}, 0.3},
                    {{10, 4}, 0.25},
                    {{17, 6}, 0.5},
                    {{21, 4}, 0.7},
                    {{15, 8}, 0.15}},
          .failing = {{{8, 4}, 0.2},
                      {{15, 5}, 0.4},
                      {{10, 4}, 0.05},
                      {{1, 8}, 0.1},
                      {{17, 6}, 0.3},
                      {{21, 4}, 0.5},
                      {{3, 5}, 0.05},
                      {{15, 3}, 0.02}}};
}

Ingredients fresh() {
  return {.seed = 20261128,
          .reals = {{6, 7},
                    {7, 5},
                    {9, 3},
                    {12, 6},
                    {14, 12},
                    {16, 4},
                    {18, 9},
                    {19, 5},
                    {22, 6},
                    {24, 10},
                    {13, 30}},
          .large = {{14, 200}, {6, 130}, {12, 500}},
          .embedded = {{22, 5, 400}, {9, 10, 800}},
          .chains = {{18, 3, 0.5}, {16, 6, 1}, {24, 2, 1}},
          .mixed = {{9, 4, 4}, {16, 2, 5}, {22, 5, 2}},
          .functions_of_branches = {9, 16, 22, 6, 19, 14},
          .branches = {4, 6, 10},
          .decades = {{{14, 6}, 2, 1e-7}, {{9, 4}, 2, 1e-8}, {{6, 5}, 3, 1e-8}},
          .noisy = {{{9, 5}, 0.5}, {{22, 3}, 0.7}, {{14, 7}, 1}},
          .failing = {{{9, 4}, 0.25}, {{16, 3}, 0.35}, {{14, 6}, 0.1}}};
}

}  // namespace

std::vector<Problem> problems(std::string_view set) {
  if (set != "fresh" && set != "choice") {
    throw std::invalid_argument(fmt::format("--set: no set '{}'; there are choice and fresh", set));
  }
  const Ingredients of = set == "fresh" ? fresh() : for_choice();
  const Rng rng(of.seed);
  std::vector<Problem> all;
  const auto fork = [&] { return rng.fork(fmt::format("problem {}", all.size())); };
  const auto add = [&](Problem problem) { all.push_back(std::move(problem)); };
  const auto add_large = [&](Problem problem) {
    problem.group = "large";
    add(std::move(problem));
  };
  for (const auto& [number, d] : of.reals) add(of_reals(number, d, fork()));
  for (const auto& [number, d] : of.large) add_large(of_reals(number, d, fork()));
  for (const auto& [number, active, d] : of.embedded)
    add_large(embedded(number, active, d, fork()));
  for (const auto& [d, options, together] : of.chains) add(chain(d, options, together, fork()));
  for (const auto& [number, d, choices] : of.mixed) add(mixed(number, d, choices, fork()));
  for (const std::size_t count : of.branches)
    add(branches(count, of.functions_of_branches, fork()));
  for (const auto& [reals, power, floor] : of.decades) {
    add(decades(of_reals(reals.number, reals.dimensions, fork()), power, floor));
  }
  for (const auto& [reals, share] : of.noisy) {
    add(noisy(reals.number, reals.dimensions, share, fork()));
  }
  for (const auto& [reals, by_chance] : of.failing) {
    add(failing(reals.number, reals.dimensions, by_chance, fork()));
  }
  for (Problem& problem : trade_offs(set)) add(std::move(problem));
  for (Problem& problem : limited(set)) add(std::move(problem));
  return all;
}

}  // namespace attune::bench
