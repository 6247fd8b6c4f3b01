// Functional analysis of variance with pairs. What it says of single parameters: tests/study.
#include <catch2/catch.hpp>
#include <functional>
#include <map>

#include "analysis/fanova.h"
#include "space/parse.h"
#include "space/sample.h"

namespace attune::fanova_pairs_test {

struct Found {
  std::map<std::string, double> alone;
  std::map<std::pair<std::string, std::string>, double> pairs;
};

json uniform() { return {{"_type", "uniform"}, {"_value", {0, 1}}}; }

Space three() {
  return parse_space({{"x", uniform()}, {"y", uniform()}, {"z", uniform()}}).value();
}

// Checks what holds of every answer.
Found pairs(const Evidence& evidence) {
  const PairImportances answer = fanova_pairs(evidence);
  Found found;
  double sum = 0, last = 1;
  for (const auto& [path, share] : answer.alone) {
    CHECK((0 <= share && share <= last));
    sum += last = share;
    found.alone[path] = share;
  }
  last = 1;
  for (const auto& [first, second, share] : answer.pairs) {
    CHECK((0 <= share && share <= last));
    sum += last = share;
    found.pairs[{first, second}] = share;
  }
  CHECK((sum == 0 || sum == Approx(1)));
  CHECK(found.pairs.size() == answer.pairs.size());
  return found;
}

Evidence drawn(Space space, std::size_t trials,
               const std::function<double(const std::vector<double>&)>& loss) {
  Evidence evidence{.space = std::move(space), .points = {}, .results = {}};
  Rng rng(1);
  for (std::size_t k = 0; k < trials; ++k) {
    evidence.points.push_back(sample(evidence.space, rng));
    evidence.results.push_back(loss(evidence.points.back().values));
  }
  return evidence;
}

TEST_CASE("fanova: a product is in the pair, a sum in the parameters") {
  const Found product =
      pairs(drawn(three(), 1000, [](const auto& v) { return (v[0] - 0.5) * (v[1] - 0.5); }));
  CHECK(product.pairs.size() == 3);
  CHECK(product.pairs.at({"x", "y"}) > 0.85);
  CHECK(product.pairs.at({"x", "z"}) < 0.05);
  const Found sum = pairs(drawn(three(), 1000, [](const auto& v) { return v[0] + v[1]; }));
  CHECK(sum.alone.at("x") == Approx(0.5).margin(0.05));
  CHECK(sum.alone.at("y") == Approx(0.5).margin(0.05));
  for (const auto& [pair, share] : sum.pairs) CHECK(share < 0.02);
}

TEST_CASE("fanova: parameter and pair have their parts of the variance") {
  // x + 4 (y - 0.5) (z - 0.5): variances 3/36 and 4/36. A forest sees less of a pair than there is.
  const Found found = pairs(
      drawn(three(), 2000, [](const auto& v) { return v[0] + 4 * (v[1] - 0.5) * (v[2] - 0.5); }));
  CHECK(found.alone.at("x") == Approx(3.0 / 7).margin(0.2));
  CHECK(found.pairs.at({"y", "z"}) == Approx(4.0 / 7).margin(0.2));
  CHECK(found.pairs.at({"x", "y"}) < 0.02);
  CHECK(found.alone.at("y") < 0.02);
}

TEST_CASE("fanova: pairs do not change the relation between single parameters") {
  const Evidence evidence = drawn(three(), 200, [](const auto& v) { return v[0] + 0.5 * v[1]; });
  const Importances alone = fanova(evidence);
  const PairImportances both = fanova_pairs(evidence);
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(both.alone[k].first == alone[k].first);
    CHECK(both.alone[k].second / both.alone[0].second == Approx(alone[k].second / alone[0].second));
  }
}

TEST_CASE("fanova: a pair within an option is judged by the trials that have it") {
  const json b = {{"_name", "b"}, {"p", uniform()}, {"q", uniform()}};
  const json kind = {{"_type", "choice"}, {"_value", {{{"_name", "a"}, {"r", uniform()}}, b}}};
  const Space space = parse_space({{"kind", kind}, {"x", uniform()}}).value();
  const Found found = pairs(drawn(space, 1500, [](const std::vector<double>& v) {
    return v[0] == 0 ? 0 : (v[2] - 0.5) * (v[3] - 0.5);
  }));
  CHECK(found.pairs.at({"kind[1].p", "kind[1].q"}) > 0.8);
  CHECK(found.pairs.at({"kind", "kind[1].p"}) == 0);
  CHECK(found.pairs.at({"kind[1].p", "x"}) < 0.05);
  CHECK_FALSE(found.pairs.contains({"kind[0].r", "kind[1].p"}));  // never together
}

TEST_CASE("fanova: without any difference all pairs have 0") {
  for (const std::size_t trials : {0, 1, 20}) {
    const Found found = pairs(drawn(three(), trials, [](const auto&) { return 2; }));
    CHECK(found.alone == std::map<std::string, double>{{"x", 0}, {"y", 0}, {"z", 0}});
    for (const auto& [pair, share] : found.pairs) CHECK(share == 0);
  }
}

}  // namespace attune::fanova_pairs_test
