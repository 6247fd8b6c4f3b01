#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "backends/simulated/generated_curves.h"
#include "backends/simulated/recorded_curves.h"
#include "base/rng.h"

namespace attune::simulated_curves_test {

SimulatedCurve curve_of(const CurveSource& source, const json& parameters,
                        std::int64_t sequence = 0) {
  auto curve = source.curve(parameters, sequence);
  REQUIRE(curve.has_value());
  return *std::move(curve);
}

// ---- recorded

TEST_CASE("recorded curves: rows without configurations are taken in order") {
  const std::string rows = GENERATE(
      R"({"curves": [{"id": 0, "epoch_seconds": 1.5, "acc": [0.1, 0.2]},
                     {"id": 1, "epoch_seconds": [1, 2, 3], "acc": [0.3, NaN, 0.5]}]})",
      R"([{"epoch_seconds": 1.5, "acc": [0.1, 0.2]},
          {"epoch_seconds": [1, 2, 3], "acc": [0.3, NaN, 0.5]}])",
      "{\"epoch_seconds\": 1.5, \"acc\": [0.1, 0.2]}\n\n"
      "{\"epoch_seconds\": [1, 2, 3], \"acc\": [0.3, NaN, 0.5]}\r\n");
  CAPTURE(rows);
  const auto source = recorded_curves(rows, "curves.json");
  REQUIRE(source.has_value());
  const SimulatedCurve first = curve_of(**source, {{"x", 1}}, 0);
  CHECK(first.values == std::vector<double>{0.1, 0.2});
  CHECK(first.seconds == std::vector<double>{1.5, 1.5});
  const SimulatedCurve second = curve_of(**source, json::object(), 1);
  CHECK(std::isnan(second.values[1]));
  CHECK(second.seconds == std::vector<double>{1, 2, 3});
  const auto beyond = (*source)->curve(json::object(), 2);
  REQUIRE_FALSE(beyond.has_value());
  CHECK(beyond.error().message.find("curves.json has 2 curves, none for trial 2") == 0);
  CHECK((*source)->description() == "2 recorded learning curves of curves.json");
}

TEST_CASE("recorded curves: one row alone, seconds left out, the metric named") {
  const auto source = recorded_curves(R"({"loss": [3, 2], "acc": [0.5, 0.6]})", "one", "acc");
  REQUIRE(source.has_value());
  const SimulatedCurve curve = curve_of(**source, json::object());
  CHECK(curve.values == std::vector<double>{0.5, 0.6});
  CHECK(curve.seconds == std::vector<double>{1, 1});
}

TEST_CASE("recorded curves: rows with configurations belong to the nearest one") {
  const auto source = recorded_curves(R"([
    {"parameters": {"lr": 0.0001, "width": 16, "optimizer": "sgd"},  "loss": [1]},
    {"parameters": {"lr": 0.01,   "width": 16, "optimizer": "sgd"},  "loss": [2]},
    {"parameters": {"lr": 1.0,    "width": 64, "optimizer": "adam"}, "loss": [3]},
    {"parameters": {"lr": 0.01,   "width": 64, "optimizer": "sgd"},  "loss": [4]}])",
                                      "rows");
  REQUIRE(source.has_value());
  auto nearest = [&](double lr, double width, const std::string& optimizer) {
    return curve_of(**source, {{"lr", lr}, {"width", width}, {"optimizer", optimizer}}, 99)
        .values.front();
  };
  CHECK(nearest(0.01, 64, "sgd") == 4);
  CHECK(nearest(0.01, 64, "adam") == 3);  // half of the logarithmic range is less than a mismatch
  CHECK(nearest(0.0005, 20, "sgd") == 1);
  CHECK(nearest(0.002, 16, "sgd") == 2);  // 0.0001 is nearer on a linear scale
  CHECK(nearest(0.01, 30, "sgd") == 2);
  CHECK(nearest(0, 64, "sgd") == 4);  // no logarithm: as far from each of them
  CHECK(curve_of(**source, {{"width", 64}, {"optimizer", "adam"}}).values.front() == 3);
}

TEST_CASE("recorded curves: what is wrong is said, with its row") {
  struct Row {
    std::string text, message;
  };
  const Row row = GENERATE(values<Row>({
      {"", "no learning curves"},
      {"[]", "no learning curves"},
      {"{\"acc\": [1]}\nnonsense", "rows:2: "},
      {"[1]", "row 0: a row is an object"},
      {"[{\"acc\": [1]}, {\"x\": 1}]", "row 1: no key holds an array of numbers"},
      {"[{\"acc\": [1], \"loss\": [2]}]", "\"acc\" and \"loss\" may both be the metric"},
      {"[{\"acc\": [1, \"a\"]}]", "no key holds an array of numbers"},
      {"[{\"acc\": [1], \"epoch_seconds\": [1, 2]}]", "as many numbers as there are epochs"},
      {"[{\"acc\": [1], \"epoch_seconds\": -1}]", "negative"},
      {"[{\"acc\": [1], \"epoch_seconds\": NaN}]", "negative or not finite"},
      {"[{\"acc\": [1], \"parameters\": 3}]", "\"parameters\" is no object"},
      {"[{\"acc\": [1], \"parameters\": {}}, {\"acc\": [1]}]", "all rows have \"parameters\""},
  }));
  CAPTURE(row.text);
  const auto source = recorded_curves(row.text, "rows");
  REQUIRE_FALSE(source.has_value());
  CHECK(source.error().message.find(row.message) != std::string::npos);
  CHECK(source.error().message.starts_with("rows"));
  CHECK_FALSE(recorded_curves("[{\"acc\": [1]}]", "rows", "loss").has_value());
}

// ---- generated

const json kSpace = json::parse(R"({
  "lr": {"_type": "loguniform", "_value": [0.0001, 1]},
  "width": {"_type": "quniform", "_value": [16, 512, 16]},
  "start": {"_type": "normal", "_value": [0, 1]},
  "optimizer": {"_type": "choice", "_value": [
    {"_name": "adam"}, {"_name": "sgd", "momentum": {"_type": "uniform", "_value": [0, 1]}}]},
  "batch": {"_type": "choice", "_value": [16, 32, 64]}})");

json configuration(double lr, double momentum = 0.5, int batch = 32) {
  return {{"lr", lr},
          {"width", 64.0},
          {"start", 0.2},
          {"optimizer", {{"_name", "sgd"}, {"momentum", momentum}}},
          {"batch", batch}};
}

GeneratedCurvesOptions generated(double noise = 0) {
  GeneratedCurvesOptions options;
  options.search_space = kSpace;
  options.seed = 5;
  options.noise = noise;
  return options;
}

double last_value(const CurveSource& source, const json& parameters) {
  return curve_of(source, parameters).values.back();
}

TEST_CASE("generated curves: the seed and the configuration decide, and nothing else") {
  const auto source = generated_curves(generated(0.1));
  const SimulatedCurve curve = curve_of(*source, configuration(0.01), 0);
  json undeclared = configuration(0.01);
  undeclared["TRIAL_BUDGET"] = 9;
  CHECK(curve_of(*source, undeclared, 7).values == curve.values);
  CHECK(curve_of(*generated_curves(generated(0.1)), configuration(0.01)).values == curve.values);
  CHECK(curve_of(*source, configuration(0.0101)).values != curve.values);
  GeneratedCurvesOptions other = generated(0.1);
  other.seed = 6;
  CHECK(curve_of(*generated_curves(other), configuration(0.01)).values != curve.values);
}

TEST_CASE("generated curves: without noise the loss falls, towards an end that is smooth") {
  const auto source = generated_curves(generated());
  double previous = 0;
  for (int step = 0; step <= 100; ++step) {
    const SimulatedCurve curve = curve_of(*source, configuration(std::pow(10, -4 + 0.04 * step)));
    REQUIRE(curve.epochs() == 81);
    CHECK(std::ranges::is_sorted(curve.values, std::greater<>()));
    CHECK(curve.values.front() < 1);
    CHECK(curve.values.back() > 0);
    // What the last epoch has left to learn differs between neighbours too: 0.5 is the slowest.
    if (step > 0) CHECK(std::abs(curve.values.back() - previous) < 0.3);
    previous = curve.values.back();
  }
}

TEST_CASE("generated curves: every kind of parameter matters") {
  GeneratedCurvesOptions options = generated();
  options.epochs = 2'000;  // close to the end, where the landscape is all that is left
  const auto source = generated_curves(options);
  const double base = last_value(*source, configuration(0.01));
  CHECK(last_value(*source, configuration(0.3)) != Approx(base).margin(0.005));
  CHECK(last_value(*source, configuration(0.01, 0.9)) != Approx(base).margin(0.005));
  CHECK(last_value(*source, configuration(0.01, 0.5, 64)) != Approx(base).margin(0.005));
  json changed = configuration(0.01);
  changed["optimizer"] = {{"_name", "adam"}};
  CHECK(last_value(*source, changed) != Approx(base).margin(0.005));
  changed = configuration(0.01);
  changed["start"] = -1.5;
  CHECK(last_value(*source, changed) != Approx(base).margin(0.005));
}

TEST_CASE("generated curves: direction, noise and duration are options") {
  const SimulatedCurve loss = curve_of(*generated_curves(generated()), configuration(0.01));
  GeneratedCurvesOptions options = generated();
  options.maximize = true;
  options.epochs = 9;
  options.epoch_seconds = 60;
  const SimulatedCurve score = curve_of(*generated_curves(options), configuration(0.01));
  CHECK(score.epochs() == 9);
  CHECK(std::ranges::is_sorted(score.values));
  CHECK(std::ranges::all_of(score.seconds, [](double s) { return s >= 30 && s <= 120; }));
  options.seconds_ratio = 1;
  CHECK(curve_of(*generated_curves(options), configuration(0.01)).seconds ==
        std::vector<double>(9, 60));

  // The curve beneath is the same: the speed is drawn before the noise.
  const SimulatedCurve noisy = curve_of(*generated_curves(generated(0.05)), configuration(0.01));
  double squares = 0;
  for (std::size_t i = 0; i < 81; ++i) squares += std::pow(noisy.values[i] - loss.values[i], 2);
  CHECK(std::sqrt(squares / 81) == Approx(0.05).epsilon(0.3));
}

TEST_CASE("generated curves: any space and any configuration have a curve") {
  const json space = GENERATE(values<json>(
      {json::object(), json::array(), json(), json{{"lr", 3}}, json{{"lr", {{"_type", "uniform"}}}},
       json{{"lr", {{"_type", "loguniform"}, {"_value", {0, 0}}}}},
       json{{"lr", {{"_type", "uniform"}, {"_value", {2, 2}}}}},
       json{{"lr", {{"_type", "lognormal"}, {"_value", {0, 0}}}}},
       json{{"lr", {{"_type", "choice"}, {"_value", {1, 2}}}}},
       json{{"lr", {{"_type", "choice"}, {"_value", 5}}}}}));
  CAPTURE(space.dump());
  GeneratedCurvesOptions options = generated();
  options.search_space = space;
  const auto source = generated_curves(options);
  for (const json& parameters :
       {json::object(), json{{"lr", -1}}, json{{"lr", "text"}}, json{{"lr", {{"_name", "a"}}}}}) {
    const SimulatedCurve curve = curve_of(*source, parameters);
    CHECK(std::ranges::all_of(curve.values, [](double v) { return v > 0 && v < 1; }));
  }
}

}  // namespace attune::simulated_curves_test
