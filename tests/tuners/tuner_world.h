#pragma once
// Shared by the tests of single tuners: a tuner on a space, and short words for what happens.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "space/parse.h"
#include "tuners/registry.h"

namespace attune {

struct TunerWorld {
  std::unique_ptr<Tuner> tuner;
  Space space;
  TrialId next = 0;

  TunerWorld(const std::string& name, const std::string& space_text, const json& arguments = {},
             std::uint64_t seed = 1, const std::vector<Objective>& objectives = {}) {
    Context context;
    context.objectives = objectives;
    auto made = make_tuner(builtin_tuners(), name, arguments, context, seed);
    if (!made) FAIL(made.error().message);
    tuner = std::move(made->tuner);
    space = parse_space(parse_json(space_text).value()).value();
    REQUIRE(tuner->set_space(space));
  }

  Answer ask() { return tuner->ask(std::vector<TrialId>{next++})[0]; }

  // Of an answer that must be a proposal; its id is next - 1.
  std::vector<double> values() {
    const Answer answer = ask();
    REQUIRE(std::holds_alternative<Proposal>(answer));
    return std::get<Proposal>(answer).point.values;
  }

  void completed(TrialId id, std::vector<double> values, double loss) {
    tuner->tell(std::vector{Outcome{id, {std::move(values)}, loss, {}, End::completed, {}}});
  }
  // Of several objectives, the first of which is minimised.
  void completed(TrialId id, std::vector<double> values, const Metrics& metrics) {
    tuner->tell(std::vector{
        Outcome{id, {std::move(values)}, metrics.front().second, metrics, End::completed, {}}});
  }
  void failed(TrialId id, std::vector<double> values) {
    tuner->tell(std::vector{Outcome{id, {std::move(values)}, {}, {}, End::failed, {}}});
  }
  void imported(std::vector<double> values, double loss) {
    tuner->tell(
        std::vector{Outcome{kImportedTrial, {std::move(values)}, loss, {}, End::imported, {}}});
  }
};

// One trial after the other, each with the loss of its values; these, in order.
template <class Loss>
std::vector<std::vector<double>> run(TunerWorld& world, int count, Loss&& loss) {
  std::vector<std::vector<double>> all;
  for (int k = 0; k < count; ++k) {
    all.push_back(world.values());
    world.completed(world.next - 1, all.back(), loss(all.back()));
  }
  return all;
}

// The lowest loss that so many trials find.
template <class Loss>
double lowest_loss(TunerWorld world, int trials, Loss&& loss) {
  double lowest = 1e300;
  for (const auto& values : run(world, trials, loss)) lowest = std::min(lowest, loss(values));
  return lowest;
}

// Two numbers and a category, one of which is better than the others; the lowest loss is 0.
inline const std::string kQuadratic = R"({"x": {"_type": "uniform", "_value": [0, 1]},
    "y": {"_type": "uniform", "_value": [0, 1]},
    "c": {"_type": "choice", "_value": ["a", "b", "c", "d"]}})";

inline double quadratic(const std::vector<double>& v) {
  return std::pow(v[0] - 0.62, 2) + std::pow(v[1] - 0.28, 2) + (v[2] == 2 ? 0 : 0.2);
}

}  // namespace attune
