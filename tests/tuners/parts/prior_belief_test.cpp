// How much a search trusts a prior, and what it makes of an acquisition.
#include "tuners/parts/prior_belief.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "space/parse.h"

namespace attune::prior_belief_test {

Space space_of(const std::string& text) { return parse_space(parse_json(text).value()).value(); }

Space around(double value) {
  return space_of(R"({"x":{"_type":"uniform","_value":[0,1],"_prior":{"_value":)" +
                  std::to_string(value) + "}}}");
}

// Results whose losses are their distances from 0.8.
History history(int count) {
  History results(1);
  Rng rng(1);
  for (int i = 0; i < count; ++i) {
    const double x = rng.uniform();
    results.add(std::span(&x, 1), History::Kind::usable, std::abs(x - 0.8));
  }
  return results;
}

TEST_CASE("belief fades with the results that are newer than the prior") {
  const Priors right(around(0.75));
  CHECK(prior_belief(right, history(0), 0) == 10);
  CHECK(prior_belief(right, history(20), 0) == 0.5);
  CHECK(prior_belief(right, history(20), 15) == 2);
  CHECK(prior_belief(right, history(2000), 0) == 0);
  CHECK(prior_belief(Priors(), history(20), 0) == 0);
}

TEST_CASE("a prior that the results contradict is rejected") {
  const Priors wrong(around(0.1));
  CHECK(prior_belief(wrong, history(4), 0) > 0);  // too few to tell
  CHECK(prior_belief(wrong, history(20), 0) == 0);
  // Failed trials say nothing.
  History failed(1);
  for (int i = 0; i < 20; ++i) {
    const double x = i / 20.0;
    failed.add(std::span(&x, 1), History::Kind::useless, x);
  }
  CHECK(prior_belief(wrong, failed, 0) == 0.5);
}

TEST_CASE("a prior that is equal everywhere in the results is not rejected") {
  const Priors right(around(0.5));
  History same(1);
  for (int i = 0; i < 20; ++i) {
    const double x = 0.5;
    same.add(std::span(&x, 1), History::Kind::usable, i);
  }
  CHECK(prior_belief(right, same, 0) == 0.5);
}

TEST_CASE("an acquisition times a prior has its sum of logarithms, and of slopes") {
  const Priors priors(around(0.3));
  const Acquisition plain{.values =
                              [](std::span<const double> rows) {
                                return std::vector<double>(rows.begin(), rows.end());
                              },
                          .climb =
                              [](std::span<const double> row, std::span<double> gradient) {
                                gradient[0] = 1;
                                return row[0];
                              }};
  const Acquisition both = times_prior(plain, priors, 2);
  const std::vector<double> rows = {0.1, 0.3, 0.35};
  const auto values = both.values(rows);
  REQUIRE(values.size() == 3);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::span row = std::span(rows).subspan(i, 1);
    CHECK(values[i] == Approx(rows[i] + 2 * priors.log_density(row)));
    double slope = 0;
    CHECK(both.climb(row, std::span(&slope, 1)) == values[i]);
    const double next = rows[i] + 1e-6;
    CHECK(slope == Approx((both.values(std::span(&next, 1))[0] - values[i]) / 1e-6).epsilon(1e-3));
  }
  CHECK(!times_prior({.values = plain.values, .climb = {}}, priors, 2).climb);
}

}  // namespace attune::prior_belief_test
