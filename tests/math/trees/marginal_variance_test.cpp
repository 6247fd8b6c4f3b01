// The leaves of a forest, and the variance that each dimension and each pair explains.
#include "math/trees/interaction_variance.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::marginal_variance_test {

using Numbers = std::vector<double>;

// Positions and categories. Each function of a row depends on all of them, also together.
struct Problem {
  std::vector<std::size_t> categories;
  std::vector<Axis> axes;
  Numbers rows, targets;
};

double draw(std::size_t categories, const Axis& axis, Rng& rng) {
  const double u = rng.uniform();
  if (categories == 0) return u;
  double sum = 0;
  for (std::size_t c = 0; c + 1 < categories; ++c) {
    sum += axis.weights[c];
    if (u < sum) return static_cast<double>(c);
  }
  return static_cast<double>(categories - 1);
}

Problem random_problem(Rng& rng) {
  Problem problem;
  const std::size_t d = 1 + rng.index(4);
  Numbers slopes;
  for (std::size_t k = 0; k < d; ++k) {
    const std::size_t n = rng.index(2) == 0 ? 0 : std::vector<std::size_t>{2, 3, 40}[rng.index(3)];
    Axis axis;
    double sum = 0;
    for (std::size_t c = 0; c < n; ++c) sum += axis.weights.emplace_back(0.1 + rng.uniform());
    for (double& weight : axis.weights) weight /= sum;
    problem.categories.push_back(n);
    problem.axes.push_back(axis);
    slopes.push_back(rng.uniform(-2, 2));
  }
  const std::size_t count = 1 + rng.index(60);
  for (std::size_t i = 0; i < count; ++i) {
    double target = 7, product = 1;
    for (std::size_t k = 0; k < d; ++k) {
      const double x = draw(problem.categories[k], problem.axes[k], rng);
      problem.rows.push_back(x);
      target += slopes[k] * std::sin(3 * x + 1);
      product *= std::cos(x);
    }
    problem.targets.push_back(target + product);
  }
  return problem;
}

Forest fitted(const Problem& problem, const ForestSettings& settings, Rng& rng) {
  Forest forest(problem.categories, settings);
  forest.fit(problem.rows, problem.targets, rng);
  return forest;
}

bool holds(const Forest::Bound& bound, double x, std::size_t categories) {
  if (categories > 0) return bound.holds(static_cast<std::size_t>(x));
  return bound.low < x && x <= bound.high;
}

TEST_CASE("forest: its leaves divide the space, and predict what it predicts") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const Problem problem = random_problem(rng);
    const Forest forest = fitted(problem, {.trees = 3}, rng);
    REQUIRE(forest.trees() == 3);
    const std::size_t d = problem.categories.size();
    for (int i = 0; i < 20; ++i) {
      Numbers row;
      for (std::size_t k = 0; k < d; ++k) {
        row.push_back(draw(problem.categories[k], problem.axes[k], rng));
      }
      double sum = 0;
      std::size_t found = 0, leaves = 0;
      for (std::size_t tree = 0; tree < 3; ++tree) {
        forest.visit_leaves(tree, [&](double mean, std::span<const Forest::Bound> bounds) {
          ++leaves;
          for (const Forest::Bound& bound : bounds) {
            const std::size_t k = bound.dimension;
            if (!holds(bound, row[k], problem.categories[k])) return;
          }
          ++found;
          sum += mean;
        });
      }
      REQUIRE(found == 3);
      CHECK(forest.nodes() == 2 * leaves - 3);
      CHECK(sum / 3 == Approx(forest.predict(row).mean));
    }
  }
}

// The variance of the marginal of dimension k over a fine grid: for each of its values the mean
// over the same draws of the others.
double sampled_variance(const Forest& forest, const Problem& problem, std::size_t k, Rng& rng) {
  constexpr std::size_t kDraws = 1000, kGrid = 200;
  const std::size_t d = problem.categories.size();
  Numbers others;
  for (std::size_t i = 0; i < kDraws * d; ++i) {
    others.push_back(draw(problem.categories[i % d], problem.axes[i % d], rng));
  }
  const std::size_t n = problem.categories[k];
  Numbers values, weights = problem.axes[k].weights;
  for (std::size_t g = 0; g < (n > 0 ? n : kGrid); ++g) {
    values.push_back(n > 0 ? static_cast<double>(g) : (static_cast<double>(g) + 0.5) / kGrid);
    if (n == 0) weights.push_back(1.0 / kGrid);
  }
  double mean = 0, squares = 0;
  for (std::size_t g = 0; g < values.size(); ++g) {
    for (std::size_t i = 0; i < kDraws; ++i) others[i * d + k] = values[g];
    double marginal = 0;
    for (const auto& prediction : forest.predict_many(others)) marginal += prediction.mean / kDraws;
    mean += weights[g] * marginal;
    squares += weights[g] * marginal * marginal;
  }
  return squares - mean * mean;
}

TEST_CASE("marginal variances: those of a sample") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const Problem problem = random_problem(rng);
    const Forest forest = fitted(problem, {.trees = 4}, rng);
    const Numbers exact = marginal_variances(forest, problem.axes);
    REQUIRE(exact.size() == problem.categories.size());
    double largest = 0;
    for (const double variance : exact) largest = std::max(largest, variance);
    for (std::size_t k = 0; k < exact.size(); ++k) {
      CAPTURE(k, problem.categories[k]);
      CHECK(exact[k] ==
            Approx(sampled_variance(forest, problem, k, rng)).epsilon(0.15).margin(0.02 * largest));
    }
  }
}

TEST_CASE("marginal variances: a known tree") {
  // 10 for the category 1, which is drawn in a quarter of all cases; else 0 or 4 by the position.
  const Problem problem{.categories = {2, 0},
                        .axes = {{.weights = {0.75, 0.25}}, {}},
                        .rows = {1, 0, 1, 1, 0, 0, 0, 1},
                        .targets = {10, 10, 0, 4}};
  Rng rng(1);
  Forest forest = fitted(problem, {.trees = 1, .share = 1, .bootstrap = false}, rng);
  REQUIRE(forest.nodes() == 5);
  double cut = 0;
  forest.visit_leaves(0, [&](double, std::span<const Forest::Bound> bounds) {
    if (bounds.size() == 2 && bounds[1].high <= 1) cut = bounds[1].high;
  });
  REQUIRE(cut > 0);
  const Numbers known = marginal_variances(forest, problem.axes);
  CHECK(known[0] == Approx(0.75 * 0.25 * std::pow(10 - 4 * (1 - cut), 2)));
  CHECK(known[1] == Approx(cut * (1 - cut) * 9));

  // Of four equally likely values one is below the cut.
  std::vector<Axis> axes = problem.axes;
  axes[1].probability_up_to = [&](double position) { return position < cut ? 0 : 0.25; };
  const Numbers steps = marginal_variances(forest, axes);
  CHECK(steps[0] == Approx(0.75 * 0.25 * std::pow(10 - 3, 2)));
  CHECK(steps[1] == Approx(0.25 * 0.75 * 9));
  // Nothing is below it: then the position decides nothing.
  axes[1].probability_up_to = [](double) { return 0; };
  const Numbers none = marginal_variances(forest, axes);
  CHECK(none[0] == Approx(0.75 * 0.25 * std::pow(10 - 4, 2)));
  CHECK(none[1] == Approx(0).margin(1e-12));
}

// The variance of the joint marginal of dimensions i and j over a grid, without what each explains
// alone: the mean over the same draws of the others.
double sampled_interaction(const Forest& forest, const Problem& problem, std::size_t i,
                           std::size_t j, Rng& rng) {
  constexpr std::size_t kDraws = 200, kGrid = 60;
  const std::size_t d = problem.categories.size();
  Numbers others;
  for (std::size_t k = 0; k < kDraws * d; ++k) {
    others.push_back(draw(problem.categories[k % d], problem.axes[k % d], rng));
  }
  const auto values = [&](std::size_t k) {
    Numbers all;
    const std::size_t n = problem.categories[k];
    for (std::size_t g = 0; g < (n > 0 ? n : kGrid); ++g) {
      all.push_back(n > 0 ? static_cast<double>(g) : (static_cast<double>(g) + 0.5) / kGrid);
    }
    return all;
  };
  const auto weight = [&](std::size_t k, std::size_t g) {
    return problem.categories[k] > 0 ? problem.axes[k].weights[g] : 1.0 / kGrid;
  };
  const Numbers rows = values(i), columns = values(j);
  Numbers joint(rows.size() * columns.size(), 0);
  Numbers of_row(rows.size(), 0), of_column(columns.size(), 0);
  double mean = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      for (std::size_t k = 0; k < kDraws; ++k) {
        others[k * d + i] = rows[r];
        others[k * d + j] = columns[c];
      }
      double& height = joint[r * columns.size() + c];
      for (const auto& each : forest.predict_many(others)) height += each.mean / kDraws;
      of_row[r] += weight(j, c) * height;
      of_column[c] += weight(i, r) * height;
      mean += weight(i, r) * weight(j, c) * height;
    }
  }
  double variance = 0;
  for (std::size_t k = 0; k < joint.size(); ++k) {
    const std::size_t r = k / columns.size(), c = k % columns.size();
    variance +=
        weight(i, r) * weight(j, c) * std::pow(joint[k] - of_row[r] - of_column[c] + mean, 2);
  }
  return variance;
}

TEST_CASE("interaction variances: those of a sample") {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const Problem problem = random_problem(rng);
    const Forest forest = fitted(problem, {.trees = 4}, rng);
    const Numbers known = interaction_variances(forest, problem.axes);
    const std::size_t d = problem.categories.size();
    REQUIRE(known.size() == d * d);
    double largest = 0;
    for (const double variance : marginal_variances(forest, problem.axes))
      largest = std::max(largest, variance);
    for (std::size_t k = 0; k < d * d; ++k) {
      CAPTURE(k / d, k % d, problem.categories[k / d], problem.categories[k % d]);
      if (k / d >= k % d) {
        CHECK(known[k] == 0);
        continue;
      }
      CHECK(known[k] == Approx(sampled_interaction(forest, problem, k / d, k % d, rng))
                            .epsilon(0.2)
                            .margin(0.02 * largest));
    }
  }
}

TEST_CASE("interaction variances: known trees") {
  // 10 for the category 1, which is drawn in a quarter of all cases; else 0 or 4 by the position.
  const Problem problem{.categories = {2, 0},
                        .axes = {{.weights = {0.75, 0.25}}, {}},
                        .rows = {1, 0, 1, 1, 0, 0, 0, 1},
                        .targets = {10, 10, 0, 4}};
  Rng rng(1);
  const Forest forest = fitted(problem, {.trees = 1, .share = 1, .bootstrap = false}, rng);
  // Of four equally likely values one is below the cut: -3, 1, 1, 1 without the mean for the
  // category 0. Both alone explain this times 3/4; what is left is 1/4 and -3/4 of it.
  std::vector<Axis> axes = problem.axes;
  axes[1].probability_up_to = [](double) { return 0.25; };
  const double levels = (9 + 1 + 1 + 1) / 4.0;
  CHECK(interaction_variances(forest, axes)[1] == Approx(levels * (0.75 / 16 + 0.25 * 9 / 16)));
  // Where nothing is below the cut, nothing is left.
  axes[1].probability_up_to = [](double) { return 0; };
  CHECK(interaction_variances(forest, axes)[1] == Approx(0).margin(1e-12));
  // The xor of two categories is nothing but interaction.
  const Problem either{.categories = {2, 2},
                       .axes = {{.weights = {0.5, 0.5}}, {.weights = {0.5, 0.5}}},
                       .rows = {0, 0, 0, 1, 1, 0, 1, 1},
                       .targets = {0, 1, 1, 0}};
  const Forest xored = fitted(either, {.trees = 8, .share = 1, .bootstrap = false}, rng);
  CHECK(interaction_variances(xored, either.axes)[1] == Approx(0.25));
  CHECK(marginal_variances(xored, either.axes)[0] == Approx(0).margin(1e-12));
}

TEST_CASE("marginal variances: a forest of single leaves, and one without dimensions") {
  Rng rng(1);
  const Problem same{.categories = {0, 2},
                     .axes = {{}, {.weights = {0.5, 0.5}}},
                     .rows = {0.1, 0, 0.9, 1},
                     .targets = {3, 3}};
  CHECK(marginal_variances(fitted(same, {}, rng), same.axes) == Numbers{0, 0});
  const Problem none{.categories = {}, .axes = {}, .rows = {}, .targets = {3, 4}};
  CHECK(marginal_variances(fitted(none, {}, rng), none.axes).empty());
  CHECK(interaction_variances(fitted(same, {}, rng), same.axes) == Numbers(4, 0));
  CHECK(interaction_variances(fitted(none, {}, rng), none.axes).empty());
}

TEST_CASE("marginal variances: a tree as deep as it has leaves") {
  Problem problem{.categories = {0}, .axes = {{}}, .rows = {}, .targets = {}};
  constexpr int kRows = 300;  // each target is far above the sum of those before it
  for (int i = 0; i < kRows; ++i) {
    problem.rows.push_back((i + 0.5) / kRows);
    problem.targets.push_back(std::pow(1.8, i - kRows));
  }
  Rng rng(3);
  const Forest forest = fitted(problem, {.trees = 1, .bootstrap = false}, rng);
  CHECK(forest.nodes() == 2 * kRows - 1);
  CHECK(marginal_variances(forest, problem.axes)[0] ==
        Approx(sampled_variance(forest, problem, 0, rng)).epsilon(0.3));
}

}  // namespace attune::marginal_variance_test
