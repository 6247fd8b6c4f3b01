// Problems with several objectives. Their best fronts are known in closed form; the volume of a
// front is exact where it says so, else that of a dense sample of it.
//
// ZDT: Zitzler, Deb, Thiele, "Comparison of Multiobjective Evolutionary Algorithms: Empirical
// Results" (Evolutionary Computation 2000). DTLZ: Deb, Thiele, Laumanns, Zitzler, "Scalable Test
// Problems for Evolutionary Multiobjective Optimization" (2005). C2-DTLZ2: Jain, Deb, "An
// Evolutionary Many-Objective Optimization Algorithm Using Reference-Point Based Nondominated
// Sorting Approach, Part II" (IEEE TEC 2014). BNH, SRN, TNK, OSY: Deb, "Multi-Objective
// Optimization using Evolutionary Algorithms" (2001), section 8.3, with their fronts.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>

#include "base/rng.h"
#include "bench/quality/families.h"
#include "bench/quality/parameters.h"
#include "math/hypervolume.h"

namespace attune::bench {
namespace trade_off_problems {
namespace {

using std::numbers::pi;

constexpr int kSamples = 20000;  // of a curve

double square(double x) { return x * x; }

double mean_from(const Values& x, std::size_t first) {
  double sum = 0;
  for (std::size_t i = first; i < x.size(); ++i) sum += x[i];
  return sum / static_cast<double>(x.size() - first);
}

using Function = std::function<Values(const Values&)>;  // of x0, x1, ...

Problem of_function(std::string name, json space, Function function, std::size_t objectives,
                    Values reference) {
  const std::size_t d = space.size();
  return {.name = std::move(name),
          .group = "objectives",
          .space = std::move(space),
          .value = {},
          .values = [=](const json& p) { return function(reals(p, 0, d)); },
          .objectives = objectives,
          .reference = std::move(reference)};
}

// The volume of a curve: point(t), t in [0, 1].
template <class PointOf>
double volume_of_curve(PointOf&& point, const Values& reference) {
  Values rows;
  for (int i = 0; i <= kSamples; ++i) {
    for (const double each : point(static_cast<double>(i) / kSamples)) rows.push_back(each);
  }
  return hypervolume(rows, reference.size(), reference);
}

// ---- ZDT

struct Zdt {
  double (*first)(double x0);
  double (*g)(double mean);  // of the other parameters
  double (*second)(double f1, double g);
};

double itself(double x) { return x; }
double steep(double mean) { return 1 + 9 * mean; }

Zdt zdt(int number) {
  const auto root = [](double f1, double g) { return g - std::sqrt(f1 * g); };
  const auto bent = [](double f1, double g) { return g * (1 - square(f1 / g)); };
  switch (number) {
    case 1:
      return {itself, steep, root};
    case 2:
      return {itself, steep, bent};
    case 3:
      return {itself, steep, [](double f1, double g) {
                return g - std::sqrt(f1 * g) - f1 * std::sin(10 * pi * f1);
              }};
    default:  // 6
      return {[](double x) { return 1 - std::exp(-4 * x) * std::pow(std::sin(6 * pi * x), 6); },
              [](double mean) { return 1 + 9 * std::pow(mean, 0.25); }, bent};
  }
}

Problem zdt_problem(int number, std::size_t d, double noise = 0) {
  const Zdt of = zdt(number);
  const auto function = [of](const Values& x) -> Values {
    const double f1 = of.first(x[0]);
    return {f1, of.second(f1, of.g(mean_from(x, 1)))};
  };
  std::string name = fmt::format("ZDT{} d{}", number, d);
  if (noise > 0) name += fmt::format(" noise {}", noise);
  Problem problem = of_function(std::move(name), ranges(d, 0, 1), function, 2, {1.1, 3});
  problem.noise = noise;
  problem.volume = volume_of_curve(
      [of](double t) {
        const double f1 = of.first(t);
        return Values{f1, of.second(f1, 1)};
      },
      problem.reference);
  return problem;
}

// ---- Spheres (DTLZ2) and planes

enum class Shape { sphere, plane };

// The point of the front that the first m - 1 parameters name.
Values on_front(Shape shape, std::span<const double> x, std::size_t m) {
  Values f(m, 1.0);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j + i + 1 < m; ++j) {
      f[i] *= shape == Shape::sphere ? std::cos(x[j] * pi / 2) : x[j];
    }
    if (i > 0) {
      const double last = x[m - 1 - i];
      f[i] *= shape == Shape::sphere ? std::sin(last * pi / 2) : 1 - last;
    }
  }
  return f;
}

// Exact: that of the cube up to the reference, without what lies before the front.
double volume_of(Shape shape, double reference, std::size_t m) {
  const auto k = static_cast<double>(m);
  const double before = shape == Shape::sphere
                            ? std::pow(pi, k / 2) / std::tgamma(k / 2 + 1) / std::pow(2, k)
                            : 1 / std::tgamma(k + 1);
  return std::pow(reference, k) - before;
}

// Each choice of four options adds to the distance from the front, and moves the optimum of the
// other parameters; the best option does neither.
Problem shaped(Shape shape, std::size_t m, std::size_t d, std::size_t choices, double noise,
               Rng rng) {
  constexpr std::size_t kOptions = 4;
  constexpr double kReference = 1.1;
  auto cost = std::make_shared<Values>();
  auto optimum = std::make_shared<Values>();
  for (std::size_t i = 0; i < choices * kOptions; ++i) {
    cost->push_back(i % kOptions == 2 ? 0 : rng.uniform(0.05, 0.3));
  }
  for (std::size_t i = m - 1; i < d; ++i) optimum->push_back(rng.uniform(0.2, 0.8));
  json space = ranges(d, 0, 1);
  for (std::size_t i = 0; i < choices; ++i) {
    space[fmt::format("c{}", i)] = {{"_type", "choice"},
                                    {"_value", json::array({"a", "b", "c", "d"})}};
  }
  const auto values = [=](const json& p) {
    const Values x = reals(p, 0, d);
    double g = 0, moved = 0;
    for (std::size_t i = 0; i < choices; ++i) {
      const std::string chosen = p[fmt::format("c{}", i)];
      const double more = (*cost)[i * kOptions + static_cast<std::size_t>(chosen[0] - 'a')];
      g += more;
      moved += more;
    }
    for (std::size_t i = m - 1; i < d; ++i) g += square(x[i] - (*optimum)[i - (m - 1)] - moved / 4);
    Values f = on_front(shape, x, m);
    for (double& each : f) each *= 1 + g;
    return f;
  };
  std::string name = fmt::format("{} m{} d{}", shape == Shape::sphere ? "DTLZ2" : "plane", m, d);
  if (choices > 0) name += fmt::format(" c{}", choices);
  if (noise > 0) name += fmt::format(" noise {}", noise);
  return {.name = std::move(name),
          .group = "objectives",
          .space = space,
          .value = {},
          .noise = noise,
          .values = values,
          .objectives = m,
          .reference = Values(m, kReference),
          .volume = volume_of(shape, kReference, m)};
}

// Of two or three objectives; the volume is that of a grid on the front.
Problem dtlz7(std::size_t m, std::size_t d) {
  const auto last = [m](const Values& x, double g) {
    double h = static_cast<double>(m);
    for (std::size_t i = 0; i + 1 < m; ++i) h -= x[i] / (1 + g) * (1 + std::sin(3 * pi * x[i]));
    return (1 + g) * h;
  };
  const auto function = [=](const Values& x) {
    Values f(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(m) - 1);
    f.push_back(last(x, 1 + 9 * mean_from(x, m - 1)));
    return f;
  };
  Values reference(m, 1.1);
  reference.back() = 10;
  Problem problem =
      of_function(fmt::format("DTLZ7 m{} d{}", m, d), ranges(d, 0, 1), function, m, reference);
  const int cells = m == 2 ? kSamples : 300;
  Values rows;
  for (int i = 0; i <= cells; ++i) {
    for (int j = 0; j <= (m == 2 ? 0 : cells); ++j) {
      Values x = {static_cast<double>(i) / cells, static_cast<double>(j) / cells};
      x.resize(m - 1);
      const double f = last(x, 1);
      rows.insert(rows.end(), x.begin(), x.end());
      rows.push_back(f);
    }
  }
  problem.volume = hypervolume(rows, m, reference);
  return problem;
}

// ---- With limits

// Only balls around the ends of the axes and around the middle of the sphere are allowed.
Problem c2_dtlz2(std::size_t m, std::size_t d) {
  const double radius = m == 2 ? 0.2 : 0.4;
  const auto excess = [=](const Values& f) {
    double length = 0, middle = 0, least = HUGE_VAL;
    for (const double each : f) {
      length += square(each);
      middle += square(each - 1 / std::sqrt(static_cast<double>(m)));
    }
    for (const double each : f) least = std::min(least, length - square(each) + square(each - 1));
    return std::min(least, middle) - square(radius);
  };
  const auto function = [=](const Values& x) {
    double g = 0;
    for (std::size_t i = m - 1; i < d; ++i) g += square(x[i] - 0.5);
    Values f = on_front(Shape::sphere, x, m);
    for (double& each : f) each *= 1 + g;
    f.push_back(excess(f));
    return f;
  };
  Problem problem = of_function(fmt::format("C2-DTLZ2 m{} d{}", m, d), ranges(d, 0, 1), function, m,
                                Values(m, 1.1));
  problem.group = "both";
  problem.limits = 1;
  const int cells = m == 2 ? kSamples : 300;
  Values rows;
  for (int i = 0; i <= cells; ++i) {
    for (int j = 0; j <= (m == 2 ? 0 : cells); ++j) {
      const Values x = {static_cast<double>(i) / cells, static_cast<double>(j) / cells};
      const Values f = on_front(Shape::sphere, x, m);
      if (excess(f) <= 1e-12) rows.insert(rows.end(), f.begin(), f.end());
    }
  }
  problem.volume = hypervolume(rows, m, problem.reference);
  return problem;
}

// `front`: of the parameters, t in [0, 1].
template <class Front>
Problem with_limits(std::string name, json space, Function function, std::size_t limits,
                    Values reference, Front&& front) {
  Problem problem = of_function(std::move(name), std::move(space), function, 2, reference);
  problem.group = "both";
  problem.limits = limits;
  problem.volume = volume_of_curve(
      [&](double t) {
        Values f = function(front(t));
        f.resize(2);
        return f;
      },
      reference);
  return problem;
}

Problem bnh() {
  const auto function = [](const Values& x) -> Values {
    return {4 * square(x[0]) + 4 * square(x[1]), square(x[0] - 5) + square(x[1] - 5),
            square(x[0] - 5) + square(x[1]) - 25, 7.7 - square(x[0] - 8) - square(x[1] + 3)};
  };
  return with_limits("BNH", ranges({{0, 5}, {0, 3}}), function, 2, {140, 50},
                     [](double t) { return Values{5 * t, std::min(5 * t, 3.0)}; });
}

Problem srn() {
  const auto function = [](const Values& x) -> Values {
    return {2 + square(x[0] - 2) + square(x[1] - 1), 9 * x[0] - square(x[1] - 1),
            square(x[0]) + square(x[1]) - 225, x[0] - 3 * x[1] + 10};
  };
  return with_limits("SRN", ranges({{-20, 20}, {-20, 20}}), function, 2, {250, 20},
                     [](double t) { return Values{-2.5, 2.5 + t * (std::sqrt(218.75) - 2.5)}; });
}

Problem tnk() {
  const auto function = [](const Values& x) -> Values {
    const double angle = std::atan2(x[0], x[1]);
    return {x[0], x[1], 1 + 0.1 * std::cos(16 * angle) - square(x[0]) - square(x[1]),
            square(x[0] - 0.5) + square(x[1] - 0.5) - 0.5};
  };
  return with_limits("TNK", ranges({{0, pi}, {0, pi}}), function, 2, {1.3, 1.3}, [](double t) {
    const double angle = t * pi / 2, radius = std::sqrt(1 + 0.1 * std::cos(16 * angle));
    const Values x = {radius * std::sin(angle), radius * std::cos(angle)};
    const bool kept = square(x[0] - 0.5) + square(x[1] - 0.5) <= 0.5;
    return kept ? x : Values{2, 2};
  });
}

Problem osy() {
  const auto function = [](const Values& x) -> Values {
    double length = 0;
    for (const double each : x) length += square(each);
    return {-25 * square(x[0] - 2) - square(x[1] - 2) - square(x[2] - 1) - square(x[3] - 4) -
                square(x[4] - 1),
            length,
            2 - x[0] - x[1],
            x[0] + x[1] - 6,
            x[1] - x[0] - 2,
            x[0] - 3 * x[1] - 2,
            square(x[2] - 3) + x[3] - 4,
            4 - square(x[4] - 3) - x[5]};
  };
  // Five pieces, one behind the other.
  const auto front = [](double t) -> Values {
    const int piece = std::min(static_cast<int>(5 * t), 4);
    const double s = 5 * t - piece;
    switch (piece) {
      case 0:
        return {5, 1, 1 + 4 * s, 0, 5, 0};
      case 1:
        return {5, 1, 1 + 4 * s, 0, 1, 0};
      case 2:
        return {4.056 + 0.944 * s, (2.056 + 0.944 * s) / 3, 1, 0, 1, 0};
      case 3:
        return {0, 2, 1 + 2.732 * s, 0, 1, 0};
      default:
        return {s, 2 - s, 1, 0, 1, 0};
    }
  };
  return with_limits("OSY", ranges({{0, 10}, {0, 10}, {1, 5}, {0, 6}, {1, 5}, {0, 10}}), function,
                     6, {0, 100}, front);
}

}  // namespace
}  // namespace trade_off_problems

std::vector<Problem> trade_offs(std::string_view set) {
  using namespace trade_off_problems;
  using enum Shape;
  const Rng rng(set == "fresh" ? 20261128 : 1);
  if (set == "fresh") {
    return {zdt_problem(2, 8),
            zdt_problem(6, 5),
            dtlz7(2, 6),
            dtlz7(3, 6),
            shaped(plane, 3, 9, 0, 0, rng.fork("plane 3")),
            shaped(plane, 4, 7, 0, 0, rng.fork("plane 4")),
            zdt_problem(2, 4, 0.2),
            shaped(plane, 2, 4, 3, 0, rng.fork("plane mixed")),
            srn(),
            tnk()};
  }
  return {zdt_problem(1, 8),
          zdt_problem(3, 6),
          shaped(sphere, 2, 6, 0, 0, rng.fork("sphere 2")),
          shaped(sphere, 3, 7, 0, 0, rng.fork("sphere 3")),
          shaped(sphere, 4, 8, 0, 0, rng.fork("sphere 4")),
          shaped(sphere, 2, 5, 0, 0.1, rng.fork("sphere noise")),
          zdt_problem(1, 5, 0.3),
          shaped(sphere, 2, 5, 3, 0, rng.fork("sphere mixed")),
          c2_dtlz2(2, 6),
          c2_dtlz2(3, 6),
          bnh(),
          osy()};
}

}  // namespace attune::bench
