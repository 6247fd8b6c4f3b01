// Problems with one objective and limits.
//
// g04, g06, g07, g09: Runarsson, Yao, "Stochastic Ranking for Constrained Evolutionary
// Optimization" (IEEE TEC 2000), with their best values. Ackley with limits, speed reducer,
// pressure vessel, spring, welded beam: Eriksson, Poloczek, "Scalable Constrained Bayesian
// Optimization" (AISTATS 2021), and the papers it names. Sequential
// quadratic programming from 40 starts found the best values of g09, speed reducer, spring and
// welded beam again.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>

#include "base/rng.h"
#include "bench/quality/families.h"
#include "bench/quality/functions.h"
#include "bench/quality/parameters.h"
#include "space/parse.h"
#include "space/sample.h"

namespace attune::bench {
namespace limited_problems {
namespace {

double square(double x) { return x * x; }
double cube(double x) { return x * x * x; }

using Function = std::function<Values(const Values&)>;  // of x0, x1, ...: objective, excesses

Problem of_function(std::string name, json space, std::size_t limits, double best,
                    const Function& function) {
  const std::size_t d = space.size();
  return {.name = std::move(name),
          .group = "limits",
          .space = std::move(space),
          .value = {},
          .best = best,
          .values = [=](const json& p) { return function(reals(p, 0, d)); },
          .limits = limits};
}

Problem ackley(std::size_t d) {
  return of_function(fmt::format("Ackley d{}", d), ranges(d, -5, 10), 2, 0, [](const Values& x) {
    double sum = 0, squares = 0, waves = 0;
    for (const double each : x) {
      sum += each;
      squares += square(each);
      waves += std::cos(2 * std::numbers::pi * each);
    }
    const auto n = static_cast<double>(x.size());
    const double value =
        20 + std::numbers::e - 20 * std::exp(-0.2 * std::sqrt(squares / n)) - std::exp(waves / n);
    return Values{value, sum, std::sqrt(squares) - 5};
  });
}

Problem speed_reducer() {
  return of_function(
      "speed reducer",
      ranges({{2.6, 3.6}, {0.7, 0.8}, {17, 28}, {7.3, 8.3}, {7.3, 8.3}, {2.9, 3.9}, {5, 5.5}}), 11,
      2994.471, [](const Values& x) {
        const double teeth = x[1] * x[2], width = x[0] * square(x[1]);
        const double value = 0.7854 * width * (3.3333 * square(x[2]) + 14.9334 * x[2] - 43.0934) -
                             1.508 * x[0] * (square(x[5]) + square(x[6])) +
                             7.4777 * (cube(x[5]) + cube(x[6])) +
                             0.7854 * (x[3] * square(x[5]) + x[4] * square(x[6]));
        return Values{value,
                      27 / (width * x[2]) - 1,
                      397.5 / (width * square(x[2])) - 1,
                      1.93 * cube(x[3]) / (teeth * square(square(x[5]))) - 1,
                      1.93 * cube(x[4]) / (teeth * square(square(x[6]))) - 1,
                      std::sqrt(square(745 * x[3] / teeth) + 16.9e6) / (110 * cube(x[5])) - 1,
                      std::sqrt(square(745 * x[4] / teeth) + 157.5e6) / (85 * cube(x[6])) - 1,
                      teeth / 40 - 1,
                      5 * x[1] / x[0] - 1,
                      x[0] / (12 * x[1]) - 1,
                      (1.5 * x[5] + 1.9) / x[3] - 1,
                      (1.1 * x[6] + 1.9) / x[4] - 1};
      });
}

// The thickness of shell and head is a multiple of a sixteenth of an inch.
Problem pressure_vessel() {
  json space = ranges({{10, 200}, {10, 200}});
  for (const char* each : {"shell", "head"}) {
    space[each] = {{"_type", "randint"}, {"_value", json::array({1, 100})}};
  }
  const auto values = [](const json& p) {
    const double shell = 0.0625 * p["shell"].get<double>(), head = 0.0625 * p["head"].get<double>();
    const double radius = p["x0"], length = p["x1"];
    const double content =
        std::numbers::pi * square(radius) * length + 4 * std::numbers::pi / 3 * cube(radius);
    return Values{0.6224 * shell * radius * length + 1.7781 * head * square(radius) +
                      3.1661 * square(shell) * length + 19.84 * square(shell) * radius,
                  0.0193 * radius - shell, 0.00954 * radius - head, 1 - content / 1296000,
                  length - 240};
  };
  Problem problem = of_function("pressure vessel", space, 4, 6059.714, {});
  problem.values = values;
  return problem;
}

Problem spring() {
  return of_function(
      "spring", ranges({{0.05, 2}, {0.25, 1.3}, {2, 15}}), 4, 0.012665, [](const Values& x) {
        const double wire = x[0], coil = x[1], turns = x[2];
        return Values{(turns + 2) * coil * square(wire),
                      1 - cube(coil) * turns / (71785 * square(square(wire))),
                      (4 * square(coil) - wire * coil) /
                              (12566 * (coil * cube(wire) - square(square(wire)))) +
                          1 / (5108 * square(wire)) - 1,
                      1 - 140.45 * wire / (square(coil) * turns), (wire + coil) / 1.5 - 1};
      });
}

Problem welded_beam() {
  return of_function(
      "welded beam", ranges({{0.1, 2}, {0.1, 10}, {0.1, 10}, {0.1, 2}}), 5, 1.724852,
      [](const Values& x) {
        const auto [h, l, t, b] = std::array{x[0], x[1], x[2], x[3]};
        const double shear = 6000 / (std::sqrt(2) * h * l), moment = 6000 * (14 + l / 2);
        const double radius = std::sqrt(square(l) / 4 + square((h + t) / 2));
        const double polar = 2 * std::sqrt(2) * h * l * (square(l) / 12 + square((h + t) / 2));
        const double bend = moment * radius / polar;
        const double stress = std::sqrt(square(shear) + shear * bend * l / radius + square(bend));
        const double buckling = 4.013 * 30e6 * std::sqrt(square(t) * std::pow(b, 6) / 36) / 196 *
                                (1 - t / 28 * std::sqrt(30e6 / 48e6));
        return Values{1.10471 * square(h) * l + 0.04811 * t * b * (14 + l),
                      stress / 13600 - 1,
                      504000 / (b * square(t)) / 30000 - 1,
                      h - b,
                      65856000 / (30e6 * b * cube(t)) / 0.25 - 1,
                      1 - buckling / 6000};
      });
}

Problem g04() {
  return of_function("g04", ranges({{78, 102}, {33, 45}, {27, 45}, {27, 45}, {27, 45}}), 6,
                     -30665.539, [](const Values& x) {
                       const double u = 85.334407 + 0.0056858 * x[1] * x[4] +
                                        0.0006262 * x[0] * x[3] - 0.0022053 * x[2] * x[4];
                       const double v = 80.51249 + 0.0071317 * x[1] * x[4] +
                                        0.0029955 * x[0] * x[1] + 0.0021813 * square(x[2]);
                       const double w = 9.300961 + 0.0047026 * x[2] * x[4] +
                                        0.0012547 * x[0] * x[2] + 0.0019085 * x[2] * x[3];
                       return Values{5.3578547 * square(x[2]) + 0.8356891 * x[0] * x[4] +
                                         37.293239 * x[0] - 40792.141,
                                     -u,
                                     u - 92,
                                     90 - v,
                                     v - 110,
                                     20 - w,
                                     w - 25};
                     });
}

Problem g06() {
  return of_function("g06", ranges({{13, 100}, {0, 100}}), 2, -6961.814, [](const Values& x) {
    return Values{cube(x[0] - 10) + cube(x[1] - 20), 100 - square(x[0] - 5) - square(x[1] - 5),
                  square(x[0] - 6) + square(x[1] - 5) - 82.81};
  });
}

Problem g07() {
  return of_function("g07", ranges(10, -10, 10), 8, 24.3062, [](const Values& x) {
    const double value = square(x[0]) + square(x[1]) + x[0] * x[1] - 14 * x[0] - 16 * x[1] +
                         square(x[2] - 10) + 4 * square(x[3] - 5) + square(x[4] - 3) +
                         2 * square(x[5] - 1) + 5 * square(x[6]) + 7 * square(x[7] - 11) +
                         2 * square(x[8] - 10) + square(x[9] - 7) + 45;
    return Values{value,
                  -105 + 4 * x[0] + 5 * x[1] - 3 * x[6] + 9 * x[7],
                  10 * x[0] - 8 * x[1] - 17 * x[6] + 2 * x[7],
                  -8 * x[0] + 2 * x[1] + 5 * x[8] - 2 * x[9] - 12,
                  3 * square(x[0] - 2) + 4 * square(x[1] - 3) + 2 * square(x[2]) - 7 * x[3] - 120,
                  5 * square(x[0]) + 8 * x[1] + square(x[2] - 6) - 2 * x[3] - 40,
                  square(x[0]) + 2 * square(x[1] - 2) - 2 * x[0] * x[1] + 14 * x[4] - 6 * x[5],
                  0.5 * square(x[0] - 8) + 2 * square(x[1] - 4) + 3 * square(x[4]) - x[5] - 30,
                  -3 * x[0] + 6 * x[1] + 12 * square(x[8] - 8) - 7 * x[9]};
  });
}

Problem g09() {
  return of_function("g09", ranges(7, -10, 10), 4, 680.6301, [](const Values& x) {
    const double value = square(x[0] - 10) + 5 * square(x[1] - 12) + square(square(x[2])) +
                         3 * square(x[3] - 11) + 10 * std::pow(x[4], 6) + 7 * square(x[5]) +
                         square(square(x[6])) - 4 * x[5] * x[6] - 10 * x[5] - 8 * x[6];
    return Values{
        value,
        -127 + 2 * square(x[0]) + 3 * square(square(x[1])) + x[2] + 4 * square(x[3]) + 5 * x[4],
        -282 + 7 * x[0] + 3 * x[1] + 10 * square(x[2]) + x[3] - x[4],
        -196 + 23 * x[0] + square(x[1]) + 6 * square(x[5]) - 8 * x[6],
        4 * square(x[0]) + square(x[1]) - 3 * x[0] * x[1] + 2 * square(x[2]) + 5 * x[5] -
            11 * x[6]};
  });
}

// A function of `d` reals whose least value is 0, and choices of four options. Each option has a
// price and a use, and the uses must not exceed three tenths of the most. The best is found by
// trying all options.
Problem knapsack(int number, std::size_t d, std::size_t choices, Rng rng) {
  constexpr std::size_t kOptions = 4;
  const RealFunction function = real_function(number, d, rng.fork("function"));
  const double scale = function(Values(d, 1.5));  // a typical value
  auto price = std::make_shared<Values>(), use = std::make_shared<Values>();
  for (std::size_t i = 0; i < choices * kOptions; ++i) {
    use->push_back(rng.uniform(0, 1));
    price->push_back(0.5 * rng.uniform(0, 1) + 0.5 * (1 - use->back()));
  }
  json space = ranges(d, -5, 5);
  for (std::size_t i = 0; i < choices; ++i) {
    space[fmt::format("c{}", i)] = {{"_type", "choice"},
                                    {"_value", json::array({"a", "b", "c", "d"})}};
  }
  const double budget = 0.3 * static_cast<double>(choices);
  std::size_t combinations = 1;
  for (std::size_t i = 0; i < choices; ++i) combinations *= kOptions;
  double best = HUGE_VAL;
  for (std::size_t k = 0; k < combinations; ++k) {
    double prices = 0, uses = 0;
    for (std::size_t i = 0, rest = k; i < choices; ++i, rest /= kOptions) {
      prices += (*price)[i * kOptions + rest % kOptions];
      uses += (*use)[i * kOptions + rest % kOptions];
    }
    if (uses <= budget) best = std::min(best, prices);
  }
  Problem problem =
      of_function(fmt::format("knapsack f{} d{} c{}", number, d, choices), space, 1, best, {});
  problem.values = [=](const json& p) {
    double prices = 0, uses = 0;
    for (std::size_t i = 0; i < choices; ++i) {
      const std::string chosen = p[fmt::format("c{}", i)];
      const auto at = i * kOptions + static_cast<std::size_t>(chosen[0] - 'a');
      prices += (*price)[at];
      uses += (*use)[at];
    }
    return Values{function(reals(p, 0, d)) / scale + prices, uses - budget};
  };
  return problem;
}

// Whether random values are many times the best one: then linear regrets would all be nearly 0.
bool over_decades(const Problem& problem) {
  return problem.best > 0 && problem.unmet > 10 * problem.best;
}

// Without a trial that keeps the limits, a search is as good as the worst tenth of random trials.
void set_unmet(Problem& problem, Rng rng) {
  const Space space = parse_space(problem.space).value();
  Values found;
  for (int k = 0; k < 201; ++k) {
    found.push_back(problem.values(to_json(space, sample(space, rng)))[0]);
  }
  std::ranges::sort(found);
  problem.unmet = found[180];
}

}  // namespace
}  // namespace limited_problems

std::vector<Problem> limited(std::string_view set) {
  using namespace limited_problems;
  const Rng rng(set == "fresh" ? 20261128 : 1);
  std::vector<Problem> all;
  if (set == "fresh") {
    all = {welded_beam(), g04(), g06(), g07(), knapsack(9, 3, 5, rng.fork("knapsack"))};
  } else {
    all = {ackley(10), speed_reducer(), pressure_vessel(),
           spring(),   g09(),           knapsack(8, 4, 4, rng.fork("knapsack"))};
  }
  for (Problem& problem : all) {
    set_unmet(problem, rng.fork(problem.name));
    problem.decades = over_decades(problem);
  }
  return all;
}

}  // namespace attune::bench
