// Slices and grids of the posterior of a Gaussian process.
#include "analysis/posterior.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "analysis/posterior_axis.h"
#include "space/parse.h"
#include "space/sample.h"

namespace attune::posterior_test {

using Numbers = std::vector<double>;
using Loss = std::function<double(const Numbers& values)>;

Space space_of(const json& search_space) { return parse_space(search_space).value(); }

json kind(const char* type, const json& value) { return {{"_type", type}, {"_value", value}}; }
json uniform(double low = 0, double high = 1) { return kind("uniform", {low, high}); }

Evidence drawn(const Space& space, std::size_t trials, const Loss& loss, std::uint64_t seed = 1) {
  Evidence evidence{.space = space, .points = {}, .results = {}};
  Rng rng(seed);
  for (std::size_t k = 0; k < trials; ++k) {
    evidence.points.push_back(sample(space, rng));
    evidence.results.push_back(loss(evidence.points.back().values));
  }
  return evidence;
}

Posterior fitted(const Evidence& evidence, const PosteriorSettings& settings = {}) {
  return Posterior::fit(evidence, settings).value();
}

Numbers axis(const json& domain, std::size_t most = 5) {
  return axis_values(space_of({{"x", domain}}).params[0], most).value();
}

Space plane() { return space_of({{"x", uniform()}, {"y", uniform()}}); }

double bowl(const Numbers& v) { return 100 + 20 * std::pow(v[0] - 0.3, 2) + std::pow(v[1], 2); }

// Two options, of which one has a parameter of its own.
Space nested() {
  return space_of(
      {{"model", kind("choice", {{{"_name", "a"}}, {{"_name", "b"}, {"depth", uniform()}}})},
       {"x", uniform()}});
}
double nested_loss(const Numbers& v) {
  return v[0] == 0 ? 1 + std::pow(v[2] - 0.5, 2) : std::pow(v[1] - 0.2, 2);
}

TEST_CASE("posterior: along a parameter the mean is the function where there is data") {
  for (const double unit : {1e-200, 1.0, 1e200}) {
    const auto loss = [&](const Numbers& v) { return unit * bowl(v); };
    const Posterior model = fitted(drawn(plane(), 60, loss));
    Point at = model.best();
    at.values[1] = 0.5;
    const PosteriorSlice slice = model.slice("x", at).value();
    CHECK(slice.x.path == "x");
    CHECK(slice.x.values.size() == 101);
    CHECK(slice.y.values.empty());
    CHECK(slice.at == at);
    REQUIRE(slice.mean.size() == 101);
    REQUIRE(slice.deviation.size() == 101);
    for (std::size_t i = 0; i < 101; ++i) {
      CHECK(slice.mean[i] / unit == Approx(bowl({slice.x.values[i], 0.5})).epsilon(0.003));
      CHECK(slice.deviation[i] > 0);
      CHECK(slice.deviation[i] / unit < 0.5);  // of a range of 10
    }
  }
}

TEST_CASE("posterior: far from data the deviation grows") {
  Evidence evidence{.space = plane(), .points = {}, .results = {}};
  Rng rng(3);
  for (int k = 0; k < 40; ++k) {
    Point point = sample(evidence.space, rng);
    point.values[0] *= 0.4;
    evidence.results.push_back(std::sin(12 * point.values[0]) + point.values[1]);
    evidence.points.push_back(std::move(point));
  }
  const Posterior model = fitted(evidence);
  const PosteriorSlice slice = model.slice("x", model.best()).value();
  double inside = 0;
  for (std::size_t i = 0; i <= 36; ++i) inside = std::max(inside, slice.deviation[i]);
  CHECK(slice.deviation[100] > 10 * inside);
  for (std::size_t i = 45; i <= 60; ++i) CHECK(slice.deviation[i] > slice.deviation[i - 1]);
}

TEST_CASE("posterior: noise is no part of the deviation, and the mean smooths it") {
  Rng rng(5);
  const auto loss = [&](const Numbers& v) { return 4 * v[0] + 0.5 * rng.normal(); };
  const Posterior model = fitted(drawn(space_of({{"x", uniform()}}), 300, loss));
  const PosteriorSlice slice = model.slice("x", model.best()).value();
  for (std::size_t i = 10; i <= 90; ++i) {
    CHECK(std::abs(slice.mean[i] - 4 * slice.x.values[i]) < 0.3);
    CHECK(slice.deviation[i] < 0.2);
  }
}

TEST_CASE("posterior: amid noise the lowest trial is better than the one with the lowest result") {
  const auto height = [](const Numbers& v) { return 10 * std::pow(v[0] - 0.3, 2); };
  double by_model = 0, lucky = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    const Evidence evidence = drawn(
        space_of({{"x", uniform()}}), 60,
        [&](const Numbers& v) { return height(v) + 0.5 * rng.normal(); }, seed);
    const Expectation lowest = fitted(evidence).lowest();
    by_model += height(evidence.points[lowest.trial].values);
    const auto best = std::ranges::min_element(evidence.results) - evidence.results.begin();
    lucky += height(evidence.points[static_cast<std::size_t>(best)].values);
    CHECK(std::abs(lowest.mean) < 0.5);
    CHECK(lowest.mean_deviation < 0.4);
    CHECK(lowest.trial_deviation == Approx(0.5).epsilon(0.4));
  }
  CHECK(by_model < 0.5 * lucky);
}

TEST_CASE("posterior: without noise the lowest trial is the one with the lowest result") {
  const Evidence evidence = drawn(plane(), 40, bowl);
  const Expectation lowest = fitted(evidence).lowest();
  CHECK(lowest.trial == static_cast<std::size_t>(std::ranges::min_element(evidence.results) -
                                                 evidence.results.begin()));
  CHECK(lowest.mean == Approx(std::ranges::min(evidence.results)).margin(0.05));
  CHECK(lowest.trial_deviation < 0.2);
}

TEST_CASE("posterior: over two parameters it contains what it is along each") {
  const Posterior model = fitted(drawn(plane(), 50, bowl), {.most_values = 21, .most_cells = 11});
  const PosteriorSlice grid = model.grid("x", "y", model.best()).value();
  REQUIRE(grid.x.values.size() == 11);
  REQUIRE(grid.y.values.size() == 11);
  REQUIRE(grid.mean.size() == 121);
  for (std::size_t j = 0; j < 11; ++j) {
    Point at = model.best();
    at.values[1] = grid.y.values[j];
    const PosteriorSlice row = model.slice("x", at).value();
    for (std::size_t i = 0; i < 11; ++i) {
      CHECK(row.x.values[2 * i] == Approx(grid.x.values[i]));
      CHECK(grid.mean[j * 11 + i] == Approx(row.mean[2 * i]));
      CHECK(grid.deviation[j * 11 + i] == Approx(row.deviation[2 * i]).epsilon(1e-4));
    }
  }
  const PosteriorSlice turned = model.grid("y", "x", model.best()).value();
  CHECK(turned.mean[3 * 11 + 7] == Approx(grid.mean[7 * 11 + 3]));
}

TEST_CASE("posterior: the values of an axis") {
  CHECK(axis(uniform(-1, 3)) == Numbers{-1, 0, 1, 2, 3});
  const Numbers logarithmic = axis(kind("loguniform", {1e-4, 1.0}));
  REQUIRE(logarithmic.size() == 5);
  for (int i = 0; i < 5; ++i) CHECK(logarithmic[i] == Approx(std::pow(10, i - 4)));
  CHECK(axis(kind("quniform", {0, 10, 5}), 50) == Numbers{0, 5, 10});
  CHECK(axis(kind("randint", {3, 7}), 50) == Numbers{3, 4, 5, 6});
  CHECK(axis(kind("randint", {0, 101})) == Numbers{0, 25, 50, 75, 100});
  CHECK(axis(kind("normal", {10, 2}), 3) == Numbers{4, 10, 16});
  CHECK(axis(kind("lognormal", {0, 1}), 3)[1] == Approx(1));
  CHECK(axis(kind("choice", {"a", "b", "a", "c"})) == Numbers{0, 1, 3});
  CHECK(axis(uniform(-8e307, 8e307), 3) == Numbers{-8e307, 0, 8e307});
}

TEST_CASE("posterior: a logarithmic domain is modelled on its logarithm") {
  const auto loss = [](const Numbers& v) { return std::pow(std::log10(v[0]) + 3, 2); };
  const Posterior model =
      fitted(drawn(space_of({{"rate", kind("loguniform", {1e-6, 1.0})}}), 40, loss));
  const PosteriorSlice slice = model.slice("rate", model.best()).value();
  for (std::size_t i = 0; i < slice.x.values.size(); ++i) {
    CHECK(std::abs(slice.mean[i] - loss({slice.x.values[i]})) < 0.1);
  }
}

TEST_CASE("posterior: choices have one value each") {
  const Space space = space_of({{"way", kind("choice", {"a", "b", "a", "c"})}, {"x", uniform()}});
  const double offset[] = {2, 5, 2, 1};
  const auto loss = [&](const Numbers& v) { return offset[static_cast<std::size_t>(v[0])] + v[1]; };
  const Posterior model = fitted(drawn(space, 60, loss));
  const PosteriorSlice slice = model.grid("x", "way", model.best()).value();
  REQUIRE(slice.y.values == Numbers{0, 1, 3});
  for (std::size_t j = 0; j < 3; ++j) {
    const double expected = offset[static_cast<std::size_t>(slice.y.values[j])] + 0.5;
    CHECK(slice.mean[j * 41 + 20] == Approx(expected).epsilon(0.02));
  }
}

TEST_CASE("posterior: options take the parameters of the best trial that took them") {
  const Evidence evidence = drawn(nested(), 120, nested_loss);
  const Posterior model = fitted(evidence);
  REQUIRE(model.best().values[0] == 1);
  // From the best point, of option b, to option a and back.
  const PosteriorSlice slice = model.slice("model", model.best()).value();
  REQUIRE(slice.mean.size() == 2);
  Point a = model.best();
  a.values[0] = 0;
  a.values[1] = Point::kInactive;
  CHECK(slice.mean[0] == Approx(nested_loss(a.values)).epsilon(0.05));
  CHECK(std::abs(slice.mean[1]) < 0.05);
  const PosteriorSlice from_a = model.slice("model", a).value();
  CHECK(from_a.mean[0] == Approx(slice.mean[0]));
  CHECK(std::abs(from_a.mean[1]) < 0.05);  // not the depth in the middle, which gives 0.09
  // In a model without trials of b its parameters are in the middle.
  Evidence only_a{.space = nested(), .points = {}, .results = {}};
  for (std::size_t k = 0; k < evidence.points.size(); ++k) {
    if (evidence.points[k].active(1)) continue;
    only_a.points.push_back(evidence.points[k]);
    only_a.results.push_back(evidence.results[k]);
  }
  CHECK(fitted(only_a).slice("model", a).value().mean.size() == 2);
}

TEST_CASE("posterior: what is not active at the point is an error that says so") {
  const Posterior model = fitted(drawn(nested(), 60, nested_loss));
  Point a = model.best();
  a.values = {0, Point::kInactive, 0.5};
  const auto message = [&](const Result<PosteriorSlice>& slice) { return slice.error().message; };
  const std::string depth = nested().params[1].path;
  CHECK(message(model.slice(depth, a)) ==
        "'" + depth + "' is not active at this point, where 'model' takes another option");
  CHECK(model.slice(depth, model.best()).has_value());
  CHECK(message(model.grid("model", depth, model.best())) ==
        "'" + depth +
            "' is active only with some values of 'model', so that they have no common picture");
  CHECK(message(model.grid(depth, "model", model.best())) ==
        message(model.grid("model", depth, model.best())));
  CHECK(message(model.grid("x", "x", a)) ==
        "a picture over two parameters needs two: both are 'x'");
  CHECK(message(model.slice("z", a)) == "the search space has no parameter 'z'");
  CHECK(message(model.slice(std::string(1 << 20, 'z'), a)).size() < 200);
}

TEST_CASE("posterior: axes that cannot be shown are errors") {
  json many = json::array();
  for (int i = 0; i < 101; ++i) many.push_back("c" + std::to_string(i));
  const Space space = space_of({{"x", uniform()},
                                {"fixed", uniform(2, 2)},
                                {"one", kind("choice", {"a"})},
                                {"many", kind("choice", many)}});
  const Posterior model = fitted(drawn(space, 30, [](const Numbers& v) { return v[0]; }));
  const auto message = [&](const char* path) {
    return model.slice(path, model.best()).error().message;
  };
  CHECK(message("fixed") == "'fixed' has one value only");
  CHECK(message("one") == "'one' has one value only");
  CHECK(message("many") == "'many' has 101 candidates; at most 100 can be shown");
  const Param subset{.name = "s",
                     .path = "s",
                     .domain = Subset{.candidates = {"a", "b", "c"}, .chosen = 2},
                     .condition = {}};
  CHECK(axis_values(subset, 5).error().message ==
        "'s' chooses several candidates at once, which no axis can show");
}

TEST_CASE("posterior: too little to fit is an error that says so") {
  const auto message = [](const Evidence& evidence) {
    return Posterior::fit(evidence).error().message;
  };
  CHECK(message(drawn(plane(), 0, bowl)) == "a model needs at least 3 results; there are 0");
  CHECK(message(drawn(plane(), 2, bowl)) == "a model needs at least 3 results; there are 2");
  CHECK(Posterior::fit(drawn(plane(), 3, bowl)).has_value());
  CHECK(message(drawn(plane(), 9, [](const Numbers&) { return 7.1; })) ==
        "all results are equal, so that a model has nothing to show");
  CHECK(message(drawn(space_of({{"x", uniform(1, 1)}}), 9, [](const Numbers&) { return 1; })) ==
        "the search space has no parameter that varies");
}

TEST_CASE("posterior: of many trials some are fitted, the best among them") {
  const Evidence evidence = drawn(plane(), 1500, bowl);
  const Posterior model = fitted(evidence, {.most_trials = 150});
  CHECK(model.trials() == 150);
  const auto best = std::ranges::min_element(evidence.results) - evidence.results.begin();
  CHECK(model.best() == evidence.points[static_cast<std::size_t>(best)]);
  const PosteriorSlice slice = model.slice("x", model.best()).value();
  for (std::size_t i = 0; i <= 100; ++i) {
    CHECK(slice.mean[i] ==
          Approx(bowl({slice.x.values[i], model.best().values[1]})).epsilon(0.003));
  }
}

TEST_CASE("posterior: diverged trials do not flatten the rest") {
  const auto loss = [](const Numbers& v) { return v[0] > 0.9 ? 1e30 : bowl(v); };
  const Posterior model = fitted(drawn(plane(), 200, loss));
  const PosteriorSlice slice = model.slice("x", model.best()).value();
  for (std::size_t i = 0; i <= 75; ++i) {
    CHECK(std::abs(slice.mean[i] - bowl({slice.x.values[i], model.best().values[1]})) < 1.5);
  }
  CHECK(slice.mean[100] > slice.mean[75]);
}

TEST_CASE("posterior: equal evidence gives equal numbers") {
  const Evidence evidence = drawn(nested(), 250, nested_loss, 9);
  const PosteriorSlice one = fitted(evidence).slice("x", fitted(evidence).best()).value();
  const PosteriorSlice two = fitted(evidence).slice("x", fitted(evidence).best()).value();
  CHECK(one.mean == two.mean);
  CHECK(one.deviation == two.deviation);
}

TEST_CASE("posterior: evenly spaced numbers have both ends") {
  for (std::size_t n = 2; n < 40; ++n) {
    for (std::size_t count = 2; count < 50; ++count) {
      const std::vector<std::size_t> all = evenly(n, count);
      CHECK(all.size() == std::min(n, count));
      CHECK(all.front() == 0);
      CHECK(all.back() == n - 1);
      CHECK(std::ranges::adjacent_find(all, std::greater_equal{}) == all.end());
    }
  }
}

}  // namespace attune::posterior_test
