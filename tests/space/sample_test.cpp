// Rounding, clipping and the distributions of space/sample.h.
#include "space/sample.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "tests/space/space_helpers.h"

namespace attune::sample_test {

Domain domain_of(const std::string& spec) {
  return space_of("{\"x\":" + spec + "}").params[0].domain;
}

// The fraction of draws that are below each of the limits.
std::vector<double> fractions_below(const Domain& domain, const std::vector<double>& limits) {
  constexpr int kDraws = 40'000;
  Rng rng(5);
  std::vector<double> result(limits.size());
  for (int i = 0; i < kDraws; ++i) {
    const double x = sample(domain, rng);
    for (std::size_t k = 0; k < limits.size(); ++k) result[k] += (x < limits[k]) / double(kDraws);
  }
  return result;
}

TEST_CASE("internal to value") {
  struct Row {
    std::string spec;
    double x, value;
  };
  const auto row = GENERATE(values<Row>({
      {R"({"_type":"uniform","_value":[0,1]})", 0.3, 0.3},
      {R"({"_type":"quniform","_value":[0.1,100.1,3]})", 100, 99},  // round(33.3) = 33
      {R"({"_type":"quniform","_value":[0.1,100.1,3]})", 100.09, 99},
      {R"({"_type":"quniform","_value":[0,100,3]})", 0.1, 0},
      {R"({"_type":"quniform","_value":[0,98.7,3]})", 98.6, 98.7},       // 99, clipped
      {R"({"_type":"quniform","_value":[50,90,0.725]})", 54.3, 54.375},  // 75 * 0.725
      {R"({"_type":"quniform","_value":[2,3,1]})", 2.5, 2},              // half to even
      {R"({"_type":"quniform","_value":[2,4,1]})", 3.5, 4},
      {R"({"_type":"quniform","_value":[0,1,0.1]})", 0.3, 0.30000000000000004},
      {R"({"_type":"quniform","_value":[2,10,5]})", 2.1, 2},  // 0, clipped
      {R"({"_type":"loguniform","_value":[1e-5,0.1]})", std::log(0.001), 0.001},
      {R"({"_type":"loguniform","_value":[1e-5,0.1]})", 3, 0.1},
      {R"({"_type":"qloguniform","_value":[1,1000,1]})", std::log(31.6), 32},
      {R"({"_type":"normal","_value":[0,1]})", -7.5, -7.5},
      {R"({"_type":"qnormal","_value":[5,2,0.5]})", -1.8, -2},
      {R"({"_type":"lognormal","_value":[0,1]})", 0, 1},
      {R"({"_type":"lognormal","_value":[0,1]})", 1000, std::numeric_limits<double>::max()},
      {R"({"_type":"qlognormal","_value":[0,1,2]})", -1, 0},
      {R"({"_type":"randint","_value":[2,8]})", 4.4, 4},
      {R"({"_type":"randint","_value":[2,8]})", 7.9, 7},
      {R"({"_type":"randint","_value":[2,8]})", -1, 2},
      {R"({"_type":"choice","_value":["a","b"]})", 1, 1},
  }));
  CAPTURE(row.spec, row.x);
  CHECK_THAT(from_internal(domain_of(row.spec), row.x), Catch::WithinULP(row.value, 1));
}

TEST_CASE("products with q are those of double arithmetic, and zero has no sign") {
  const Domain tenths = domain_of(R"({"_type":"quniform","_value":[-1,1,0.1]})");
  CHECK(from_internal(tenths, 0.3) == 3 * 0.1);
  CHECK(from_internal(tenths, 0.3) != 0.3);
  CHECK_FALSE(std::signbit(from_internal(tenths, -0.01)));
}

TEST_CASE("value to internal and back") {
  const std::string spec = GENERATE(
      R"({"_type":"loguniform","_value":[1e-5,0.1]})", R"({"_type":"randint","_value":[-9,9]})",
      R"({"_type":"qloguniform","_value":[1,1000,7]})", R"({"_type":"lognormal","_value":[2,3]})",
      R"({"_type":"qlognormal","_value":[0,1,0.5]})", R"({"_type":"qnormal","_value":[0,9,0.3]})");
  CAPTURE(spec);
  const Domain domain = domain_of(spec);
  Rng rng(3);
  for (int i = 0; i < 500; ++i) {
    const double value = sample(domain, rng);
    const double internal = to_internal(domain, value);
    REQUIRE(std::isfinite(internal));
    REQUIRE(from_internal(domain, internal) == Approx(value).epsilon(1e-12).margin(0));
  }
}

TEST_CASE("a zero of a log domain has a finite logarithm that rounds back") {
  const Domain rounded = domain_of(R"({"_type":"qlognormal","_value":[0,1,2]})");
  CHECK(std::isfinite(to_internal(rounded, 0)));
  CHECK(from_internal(rounded, to_internal(rounded, 0)) == 0);
  CHECK(std::isfinite(to_internal(domain_of(R"({"_type":"lognormal","_value":[0,1]})"), 0)));
}

TEST_CASE("draws follow the declared distribution") {
  // 40000 draws: three standard errors are below 0.0075.
  struct Row {
    std::string spec;
    std::vector<double> limits, expected;
  };
  const auto row = GENERATE(values<Row>({
      {R"({"_type":"uniform","_value":[-1,3]})", {0, 2}, {0.25, 0.75}},
      {R"({"_type":"loguniform","_value":[1e-4,1]})", {1e-3, 1e-1}, {0.25, 0.75}},
      {R"({"_type":"normal","_value":[10,2]})", {8, 10, 12}, {0.158655, 0.5, 0.841345}},
      {R"({"_type":"lognormal","_value":[1,2]})", {std::exp(-1), std::exp(1)}, {0.158655, 0.5}},
      {R"({"_type":"quniform","_value":[0,1,0.6]})", {0.5, 0.9}, {0.3, 0.9}},
      {R"({"_type":"qnormal","_value":[0,1,2]})", {-1, 1}, {0.158655, 0.841345}},
      {R"({"_type":"randint","_value":[0,4]})", {1, 2, 3, 4}, {0.25, 0.5, 0.75, 1}},
      {R"({"_type":"choice","_value":[1,1,2]})", {1, 2, 3}, {0.33333, 0.66667, 1}},
  }));
  CAPTURE(row.spec);
  const auto found = fractions_below(domain_of(row.spec), row.limits);
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(row.limits[i]);
    CHECK(found[i] == Approx(row.expected[i]).margin(0.0075));
  }
}

TEST_CASE("every subset is equally likely") {
  const Domain domain =
      domain_of(R"({"_type":"input_choice","_value":{"candidates":[1,2,3,4],"n_chosen":2}})");
  Rng rng(8);
  std::map<double, int> drawn;
  for (int i = 0; i < 6000; ++i) ++drawn[sample(domain, rng)];
  CHECK(drawn.size() == 6);
  for (const auto& [mask, n] : drawn) CHECK(n == Approx(1000).margin(100));
}

TEST_CASE("extreme parameters give finite values") {
  const std::string spec = GENERATE(
      R"({"_type":"lognormal","_value":[0,1000]})", R"({"_type":"normal","_value":[1e308,1e308]})",
      R"({"_type":"qnormal","_value":[0,1e308,1e-300]})",
      R"({"_type":"qlognormal","_value":[700,100,1e10]})",
      R"({"_type":"quniform","_value":[0,1e300,1e-300]})",
      R"({"_type":"qloguniform","_value":[1e-300,1e300,0.1]})",
      R"({"_type":"randint","_value":[-9007199254740991,9007199254740991]})");
  CAPTURE(spec);
  const Domain domain = domain_of(spec);
  Rng rng(1);
  for (int i = 0; i < 500; ++i) REQUIRE(std::isfinite(sample(domain, rng)));
}

TEST_CASE("inactive parameters are not drawn") {
  const Space plain = space_of(R"({"a":{"_type":"choice","_value":[1]},
      "z":{"_type":"uniform","_value":[0,1]}})");
  const Space nested = space_of(R"({"a":{"_type":"choice","_value":[{"_name":"n"}]},
      "z":{"_type":"uniform","_value":[0,1]}})");
  Rng one(4), two(4);
  CHECK(sample(plain, one).values[1] == sample(nested, two).values[1]);
  const Space two_options = space_of(R"({"a":{"_type":"choice","_value":[
      {"_name":"n","x":{"_type":"uniform","_value":[0,1]}},{"_name":"m"}]}})");
  for (int i = 0; i < 50; ++i) {
    const Rng before = one;
    const Point point = sample(two_options, one);
    CHECK(point.active(1) == (point.values[0] == 0));
    Rng only_choice = before;
    only_choice.index(2);
    if (!point.active(1)) CHECK(only_choice == one);
  }
}

}  // namespace attune::sample_test
