// PED-ANOVA: which parameters decide whether a trial is among the best.
#include "analysis/ped_anova.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>

#include "space/parse.h"
#include "space/sample.h"

namespace attune::ped_anova_test {

using Shares = std::map<std::string, double>;
using Loss = std::function<double(const std::vector<double>& values)>;

Space space_of(const json& search_space) { return parse_space(search_space).value(); }

json uniform(double low = 0, double high = 1) {
  return {{"_type", "uniform"}, {"_value", {low, high}}};
}

Space three() { return space_of({{"x", uniform()}, {"y", uniform()}, {"unused", uniform()}}); }

Space nested() {
  return space_of({{"kind",
                    {{"_type", "choice"},
                     {"_value", {{{"_name", "a"}}, {{"_name", "b"}, {"depth", uniform()}}}}}},
                   {"x", uniform()}});
}

Evidence drawn(Space space, std::size_t trials, const Loss& loss, std::uint64_t seed = 1) {
  Evidence evidence{.space = std::move(space), .points = {}, .results = {}};
  Rng rng(seed);
  for (std::size_t k = 0; k < trials; ++k) {
    evidence.points.push_back(sample(evidence.space, rng));
    evidence.results.push_back(loss(evidence.points.back().values));
  }
  return evidence;
}

// Checks what holds of every answer.
Shares shares(const PedAnovaAnswer& answer) {
  double sum = 0, last = 1;
  Shares found;
  for (const auto& [path, share] : answer.shares) {
    CHECK(share >= 0);
    CHECK(share <= last);
    last = share;
    sum += share;
    found[path] = share;
  }
  CHECK((sum == 0 || sum == Approx(1)));
  CHECK(answer.target <= answer.region);
  return found;
}

double quadratic(const std::vector<double>& v) {
  return 4 * std::pow(v[0] - 0.3, 2) + std::pow(v[1] - 0.3, 2);
}

// The numbers are those of a program in numpy that adds up a normal for each trial, from the
// definitions in the header: no counts in cells, no table of kernels.
TEST_CASE("ped_anova: the numbers of the definition, computed independently") {
  const Space space =
      space_of({{"x", uniform()},
                {"lr", {{"_type", "loguniform"}, {"_value", {1e-4, 1}}}},
                {"n", {{"_type", "randint"}, {"_value", {0, 4}}}},
                {"kind",
                 {{"_type", "choice"},
                  {"_value", {{{"_name", "a"}}, {{"_name", "b"}, {"depth", uniform()}}}}}}});
  Evidence evidence{.space = space, .points = {}, .results = {}};
  const auto spread = [](int k, int factor) { return (factor * k % 40 + 0.5) / 40; };
  for (int k = 0; k < 40; ++k) {
    const double x = spread(k, 7), lr = spread(k, 11), depth = spread(k, 13);
    const bool b = k % 5 < 2;
    evidence.points.push_back({.values = {x, std::pow(1e-4, 1 - lr), 3.0 * k - 4 * (3 * k / 4),
                                          b ? 1.0 : 0.0, b ? depth : Point::kInactive}});
    evidence.results.push_back(std::pow(x - 0.3, 2) + 0.2 * lr +
                               0.05 * evidence.points[k].values[2] + (b ? 0.3 * depth - 0.1 : 0));
  }
  const PedAnovaAnswer answer = ped_anova(evidence, {.target = 0.2});
  CHECK(answer.target == 8);
  CHECK(answer.region == 40);
  const Shares found = shares(answer);
  CHECK(found.at("x") == Approx(0.16890139763921172).epsilon(1e-9));
  CHECK(found.at("lr") == Approx(0.19478292130778949).epsilon(1e-9));
  CHECK(found.at("n") == Approx(0.4247142162998679).epsilon(1e-9));
  CHECK(found.at("kind") == Approx(0.03839671641596238).epsilon(1e-9));
  CHECK(found.at("kind[1].depth") == Approx(0.1732047483371686).epsilon(1e-9));
}

TEST_CASE("ped_anova: what decides more has more, what decides nothing has nearly nothing") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Shares found = shares(ped_anova(drawn(three(), 2000, quadratic, seed)));
    CHECK(found.at("x") > 2 * found.at("y"));
    CHECK(found.at("y") > 0.15);
    CHECK(found.at("unused") < 0.01);
  }
}

TEST_CASE("ped_anova: only the order of the results matters") {
  Evidence evidence = drawn(three(), 300, quadratic);
  const PedAnovaAnswer before = ped_anova(evidence);
  for (double& result : evidence.results) result = std::exp(20 * result) * 1e290;
  const PedAnovaAnswer after = ped_anova(evidence);
  CHECK(after.shares == before.shares);
  CHECK(after.target == before.target);
}

TEST_CASE("ped_anova: the order of the trials and of the parameters does not matter") {
  Evidence evidence = drawn(three(), 300, quadratic);
  const Shares before = shares(ped_anova(evidence));
  std::ranges::reverse(evidence.points);
  std::ranges::reverse(evidence.results);
  CHECK(shares(ped_anova(evidence)) == before);
  std::ranges::reverse(evidence.space.params);
  for (Point& point : evidence.points) std::ranges::reverse(point.values);
  for (const auto& [path, share] : shares(ped_anova(evidence)))
    CHECK(share == Approx(before.at(path)));
}

TEST_CASE("ped_anova: a value of few, where the others lie far away") {
  const Space space = space_of({{"q", {{"_type", "quniform"}, {"_value", {0, 1, 0.5}}}},
                                {"noise", {{"_type", "quniform"}, {"_value", {0, 1, 0.5}}}},
                                {"c", {{"_type", "choice"}, {"_value", {"u", "v", "w"}}}}});
  const Shares found = shares(ped_anova(drawn(
      space, 3000, [](const auto& v) { return std::abs(v[0] - 0.5) + (v[2] == 1 ? 0 : 1); })));
  // Of 3000 trials all of the best have q = 0.5, which a half have, and c = v, which a third have:
  // divergences 1 and 2. They are more than a tenth, but equally good.
  CHECK(found.at("q") == Approx(1.0 / 3).margin(0.04));
  CHECK(found.at("c") == Approx(2.0 / 3).margin(0.04));
  CHECK(found.at("noise") < 0.01);
}

TEST_CASE("ped_anova: each candidate of a subset counts") {
  const Space space = space_of({{"s",
                                 {{"_type", "input_choice"},
                                  {"_value", {{"candidates", {"u", "v", "w"}}, {"n_chosen", 1}}}}},
                                {"x", uniform()}});
  const Loss has_u = [](const auto& v) { return static_cast<std::uint64_t>(v[0]) & 1 ? 0 : 1; };
  CHECK(shares(ped_anova(drawn(space, 1000, has_u))).at("s") > 0.97);
}

TEST_CASE("ped_anova: a conditional parameter is judged where it is active") {
  // Of a and b equally many are good: within b the depth decides, within a a coin.
  const Loss loss = [](const std::vector<double>& v) { return v[0] == 1 ? v[1] : v[2]; };
  const Shares even = shares(ped_anova(drawn(nested(), 4000, loss)));
  CHECK(even.at("kind") < 0.02);
  CHECK(even.at("kind[1].depth") > 0.4);
  // All good ones are a: of what the depth does in b nobody among the best knows.
  const Shares never = shares(
      ped_anova(drawn(nested(), 4000, [](const auto& v) { return v[0] == 1 ? 10 + v[1] : v[2]; })));
  CHECK(never.at("kind[1].depth") == 0);
  CHECK(never.at("kind") > 0.1);
  // All good ones are b, whatever the depth: that is the share of the choice alone.
  const Shares chosen =
      shares(ped_anova(drawn(nested(), 4000, [](const auto& v) { return v[0] == 1 ? 0.0 : 1.0; })));
  CHECK(chosen.at("kind") > 0.98);
}

TEST_CASE("ped_anova: the region may be a part of the trials") {
  // x decides who is in the better half, y who is the best of these.
  const Evidence evidence = drawn(
      three(), 4000, [](const std::vector<double>& v) { return v[0] > 0.5 ? 1 + v[2] : v[1]; });
  const Shares whole = shares(ped_anova(evidence));
  const PedAnovaAnswer half = ped_anova(evidence, {.target = 0.1, .region = 0.4});
  CHECK(half.region == 1600);
  CHECK(half.target == 400);
  CHECK(whole.at("x") > 0.1);
  CHECK(shares(half).at("x") < 0.01);
  CHECK(shares(half).at("y") > 0.97);
}

TEST_CASE("ped_anova: at least 5 trials are the target, and those that are as good as its last") {
  const auto target = [](std::size_t trials, const Loss& loss) {
    return ped_anova(drawn(three(), trials, loss)).target;
  };
  CHECK(target(100, quadratic) == 10);
  CHECK(target(101, quadratic) == 11);
  CHECK(target(20, quadratic) == 5);
  CHECK(target(7, quadratic) == 3);
  CHECK(target(2, quadratic) == 1);
  CHECK(target(100, [](const auto&) { return 1; }) == 100);
  CHECK(ped_anova(drawn(three(), 30, quadratic), {.target = 0.1}).target == 5);
  CHECK(ped_anova(drawn(three(), 300, quadratic), {.target = 0.1}).target == 30);
}

TEST_CASE("ped_anova: where target and region look alike every share is 0") {
  const Shares none = {{"x", 0}, {"y", 0}, {"unused", 0}};
  const auto of = [](std::size_t trials, const Loss& loss) {
    return shares(ped_anova(drawn(three(), trials, loss)));
  };
  CHECK(of(0, quadratic) == none);
  CHECK(of(1, quadratic) == none);
  CHECK(of(50, [](const auto&) { return 0.1; }) == none);
  Evidence same = drawn(three(), 20, quadratic);
  for (Point& point : same.points) point = same.points.front();
  for (const auto& [path, share] : shares(ped_anova(same))) CHECK(share == 0);
  const Space constant =
      space_of({{"c", uniform(1, 1)}, {"one", {{"_type", "choice"}, {"_value", {"a"}}}}});
  CHECK(shares(ped_anova(drawn(constant, 9, [](const auto& v) { return v[0]; }))) ==
        Shares{{"c", 0}, {"one", 0}});
  CHECK(ped_anova({}).shares.empty());
}

}  // namespace attune::ped_anova_test
