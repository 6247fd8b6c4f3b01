#pragma once
// HyperBandScheduler and HyperBandForBOHB on a small space, and short words for what happens.
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "space/parse.h"
#include "tuners/registry.h"

namespace attune::hyperband_world {

inline constexpr const char* kInterval = R"({"x": {"_type": "uniform", "_value": [0, 1]}})";

inline std::string finite_space(int points) {
  json values = json::array();
  for (int i = 0; i < points; ++i) values.push_back(i);
  return dump_json({{"x", {{"_type", "choice"}, {"_value", values}}}});
}

struct Setup {
  std::string name = "HyperBandScheduler";
  json arguments = {{"max_t", 9}, {"optimize_mode", "minimize"}, {"searcher", "Random"}};
  std::string space = kInterval;
  std::optional<int> max_trials = {};
};

inline std::unique_ptr<Tuner> make(const Setup& setup) {
  Context context;
  context.max_trials = setup.max_trials;
  auto made = make_tuner(builtin_tuners(), setup.name, setup.arguments, context, 1);
  if (!made) FAIL(made.error().message);
  const Space space = parse_space(parse_json(setup.space).value()).value();
  REQUIRE(made->tuner->set_space(space));
  return std::move(made->tuner);
}

// A tuner, and the words for what its trials do.
struct World {
  explicit World(const Setup& setup_ = {}) : setup(setup_), tuner(make(setup)) {}

  Answer ask() { return tuner->ask(std::vector{next++})[0]; }
  // Of an answer that must be a proposal; a new trial has the id next - 1.
  Proposal proposal() {
    const Answer answer = ask();
    REQUIRE(std::holds_alternative<Proposal>(answer));
    return std::get<Proposal>(answer);
  }
  void begin(int count) {
    for (int i = 0; i < count; ++i) proposal();
  }
  std::vector<Decision> report(TrialId trial, std::int64_t iteration, double value) {
    return tuner->on_report({trial, iteration - 1, {{"default", value}}});
  }
  void tell(TrialId trial, End end, std::optional<double> loss = {},
            std::optional<double> budget = {}) {
    tuner->tell(std::vector{Outcome{trial, {{0.5}}, loss, {}, end, budget}});
  }
  void restart() {
    auto loaded = make(setup);
    REQUIRE(loaded->load(parse_json(dump_json(tuner->save())).value()));
    REQUIRE(dump_json(loaded->save()) == dump_json(tuner->save()));
    tuner = std::move(loaded);
  }

  Setup setup;
  std::unique_ptr<Tuner> tuner;
  TrialId next = 0;
};

}  // namespace attune::hyperband_world
