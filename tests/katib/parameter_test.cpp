#include "katib/parameter.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/katib/katib_helpers.h"

using namespace attune;
using namespace attune::katib;

namespace {

json domain(const pb::ParameterSpec& spec) {
  const auto made = Parameter::make(spec);
  REQUIRE(made);
  return made->domain();
}

}  // namespace

TEST_CASE("parameter: numbers are whole texts") {
  CHECK(number_of("1e-3") == 0.001);
  CHECK(number_of("+2") == 2);
  CHECK(number_of("-0.5") == -0.5);
  for (const char* text : {"", "nan", "inf", "-inf", "1e999", "1 ", " 1", "1,5", "0x10", "+-1"}) {
    INFO(text);
    CHECK_FALSE(number_of(text));
  }
}

TEST_CASE("parameter: the domain of each type") {
  using namespace pb;
  CHECK(domain(spec_of("x", DOUBLE, "0", "1")) ==
        json{{"_type", "uniform"}, {"_value", {0.0, 1.0}}});
  CHECK(domain(spec_of("x", DOUBLE, "0.1", "1", "", LOG_UNIFORM)) ==
        json{{"_type", "loguniform"}, {"_value", {0.1, 1.0}}});
  CHECK(domain(spec_of("x", INT, "-2", "7")) == json{{"_type", "randint"}, {"_value", {0, 10}}});
  CHECK(domain(spec_of("x", INT, "16", "256", "16")) ==
        json{{"_type", "randint"}, {"_value", {0, 16}}});
  CHECK(domain(spec_of("x", DOUBLE, "5", "10", "0.8")) ==
        json{{"_type", "randint"}, {"_value", {0, 7}}});
  CHECK(domain(spec_of("x", DOUBLE, "0", "0.3", "0.1")) ==
        json{{"_type", "randint"}, {"_value", {0, 4}}});
  CHECK(domain(spec_of("x", DOUBLE, "2", "2")) == json{{"_type", "randint"}, {"_value", {0, 1}}});
  CHECK(domain(spec_of("x", DISCRETE, {"3", "2", "0.50"})) ==
        json{{"_type", "choice"}, {"_value", {0.5, 2.0, 3.0}}});
  CHECK(domain(spec_of("x", CATEGORICAL, {"b", "a"})) ==
        json{{"_type", "choice"}, {"_value", {"b", "a"}}});
}

TEST_CASE("parameter: values are written as Katib reads them") {
  using namespace pb;
  const auto text = [](const ParameterSpec& spec, const json& value) {
    return Parameter::make(spec)->text_of(value);
  };
  CHECK(text(spec_of("x", DOUBLE, "0", "1"), 0.1) == "0.1");
  CHECK(text(spec_of("x", DOUBLE, "0", "1"), 1e-7) == "1e-07");
  CHECK(text(spec_of("x", INT, "-2", "7"), 0) == "-2");
  CHECK(text(spec_of("x", INT, "1", "1000", "", LOG_UNIFORM), 31.6) == "32");
  CHECK(text(spec_of("x", INT, "1", "1000", "10", LOG_UNIFORM), 31.6) == "31");
  CHECK(text(spec_of("x", DOUBLE, "5", "10", "0.8"), 3) == "7.4");
  CHECK(text(spec_of("x", DOUBLE, "0", "0.3", "0.1"), 3) == "0.3");
  CHECK(text(spec_of("x", DISCRETE, {"3", "2", "0.50"}), 0.5) == "0.50");
  CHECK(text(spec_of("x", CATEGORICAL, {"b", "a"}), "b") == "b");
}

TEST_CASE("parameter: a text of ours gives its value again") {
  using namespace pb;
  for (const ParameterSpec& spec :
       {spec_of("x", DOUBLE, "0", "1"), spec_of("x", DOUBLE, "1e-9", "1", "", LOG_UNIFORM),
        spec_of("x", DOUBLE, "-3", "3", "", NORMAL),
        spec_of("x", DOUBLE, "0.01", "100", "", LOG_NORMAL), spec_of("x", INT, "5", "500", "5"),
        spec_of("x", DOUBLE, "0", "1", "0.05"), spec_of("x", DISCRETE, {"3", "2", "0.50"})}) {
    const Parameter parameter = *Parameter::make(spec);
    const json& range = parameter.domain()["_value"];
    for (const json& value : range) {
      if (parameter.domain()["_type"] == "randint" && value != range[0]) continue;
      const auto again = parameter.value_of(parameter.text_of(value));
      REQUIRE(again);
      CHECK(std::abs(again->get<double>() - value.get<double>()) < 1e-9);
    }
  }
  // Limits with more digits than a step is written with.
  const Parameter exact = *Parameter::make(
      spec_of("x", DOUBLE, "0.30000000000000004", "0.8999999999999997", "0.19999999999999989"));
  for (const int steps : {0, 1, 2, 3}) CHECK(exact.value_of(exact.text_of(steps)) == json(steps));
  const Parameter discrete = *Parameter::make(spec_of("x", DISCRETE, {"0.50", "2"}));
  CHECK(discrete.value_of("0.5") == json(0.5));
  CHECK_FALSE(discrete.value_of("0.6"));
}

TEST_CASE("parameter: normal distributions have their mean in the middle") {
  using namespace pb;
  const Parameter normal = *Parameter::make(spec_of("x", DOUBLE, "-2", "4", "", NORMAL));
  CHECK(number_of(normal.text_of(0.0)) == 1);
  // One deviation, a sixth of the range, has the probability 0.6827.
  CHECK(*number_of(normal.text_of(0.6826894921370859)) == Approx(2));
  CHECK(*number_of(normal.text_of(1.0)) == Approx(4));
  CHECK(*number_of(normal.text_of(-1.0)) == Approx(-2));
  const Parameter log = *Parameter::make(spec_of("x", DOUBLE, "0.01", "100", "", LOG_NORMAL));
  CHECK(*number_of(log.text_of(0.0)) == Approx(1));
  const Parameter whole = *Parameter::make(spec_of("x", INT, "0", "60", "", NORMAL));
  CHECK(whole.text_of(0.6826894921370859) == "40");
}

TEST_CASE("parameter: mistakes name the place") {
  using namespace pb;
  const auto error = [](const ParameterSpec& spec) { return error_of(Parameter::make(spec)); };
  CHECK(error(spec_of("", DOUBLE, "0", "1")) == "a parameter has no name");
  CHECK(error(spec_of("x", DOUBLE, "nan", "1")) ==
        "x.feasible_space.min: a finite number expected, not \"nan\"");
  CHECK(error(spec_of("x", INT, "0", "1.5")) ==
        "x.feasible_space.max: an integer expected, not \"1.5\"");
  CHECK(error(spec_of("x", DOUBLE, "1", "0")) == "x.feasible_space: min 1 is above max 0");
  CHECK(error(spec_of("x", INT, "0", "9", "-1")) ==
        "x.feasible_space.step: a number above 0 expected");
  CHECK(error(spec_of("x", DOUBLE, "0", "1", "", LOG_NORMAL)) ==
        "x.feasible_space.min: above 0 expected on a logarithmic scale");
  CHECK(error(spec_of("x", DISCRETE, {"1", "1.0"})) ==
        "x.feasible_space.list: \"1.0\" is listed twice");
  CHECK(error(spec_of("x", UNKNOWN_TYPE, "0", "1")) ==
        "x.parameter_type: double, int, discrete or categorical expected");
}
