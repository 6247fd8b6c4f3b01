#include "rungs/stopping_optuna.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "tests/support/through_text.h"

namespace attune::stopping_optuna_test {

// Optuna's prune(), from scratch at each report: what each trial had at each rung, in scores of the
// user's sign.
struct Reference {
  OptunaHalvingOptions options;
  std::map<TrialId, std::vector<double>> at_rungs = {};
  std::map<TrialId, std::size_t> bracket_of = {};

  bool prunes(TrialId trial, std::int64_t step, double value) {
    const std::size_t bracket = bracket_of[trial];
    std::vector<double>& own = at_rungs[trial];
    const auto factor = static_cast<std::int64_t>(options.reduction_factor);
    while (true) {
      auto level = static_cast<std::int64_t>(options.min_resource);
      for (std::size_t i = 0; i < options.early_stopping_rates[bracket] + own.size(); ++i) {
        level *= factor;
      }
      if (step < level) return false;
      if (std::isnan(value)) return true;
      own.push_back(value);
      std::vector<double> competing;
      for (const auto& [other, values] : at_rungs) {
        if (bracket_of[other] != bracket || values.size() < own.size()) continue;
        competing.push_back(values[own.size() - 1]);
      }
      if (competing.size() <= options.bootstrap_count) return true;
      std::ranges::sort(competing);
      if (options.maximise) std::ranges::reverse(competing);
      const std::size_t promotable = competing.size() / static_cast<std::size_t>(factor);
      const double last = competing[promotable == 0 ? 0 : promotable - 1];
      if (options.maximise ? value < last : value > last) return true;
    }
  }
};

// 200 trials with up to 60 reports; some skip steps, some have ties, some are NaN.
void compare(const OptunaHalvingOptions& options, std::uint64_t seed) {
  CAPTURE(seed, options.maximise, options.reduction_factor, options.bootstrap_count);
  std::unique_ptr<StoppingRule> rule = std::make_unique<OptunaHalvingRule>(options);
  Reference reference{options};
  std::map<TrialId, RungVisitor> trials;
  std::map<TrialId, std::int64_t> steps;
  Rng rng(seed);
  int stops = 0, kept = 0;
  for (TrialId next = 0; next < 200 || !trials.empty();) {
    while (next < 200 && trials.size() < 4) {
      trials[next].bracket = draw_bracket(rule->brackets(), rng);
      reference.bracket_of[next] = trials[next].bracket;
      steps[next++] = 0;
    }
    auto chosen = trials.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(rng.index(trials.size())));
    auto& [trial, visitor] = *chosen;
    std::int64_t& step = steps[trial];
    double value = std::round(20 * rng.normal()) / 20 + static_cast<double>(trial % 7);
    if (rng.index(40) == 0) value = NAN;
    const double loss = options.maximise ? -value : value;
    const Decision decision =
        rule->judge(trial, visitor, static_cast<double>(step), std::span(&loss, 1));
    REQUIRE((decision.action == Action::stop) == reference.prunes(trial, step, value));
    REQUIRE(decision.reason.empty() == (decision.action == Action::keep_going));
    REQUIRE(visitor.passed.size() == reference.at_rungs[trial].size());
    REQUIRE(rule->possible(visitor));
    (decision.action == Action::stop ? stops : kept) += 1;
    step += rng.index(5) == 0 ? rng.integer(1, 9) : 1;
    if (decision.action == Action::stop || step > 60) trials.erase(chosen);
    if ((stops + kept) % 40 == 0) {
      auto loaded = rule->loaded(through_text(rule->save()));
      REQUIRE(loaded);
      rule = *std::move(loaded);
    }
  }
  CHECK(stops > 100);
  CHECK(kept > 100);
}

TEST_CASE("SuccessiveHalving decides as Optuna's pruner does, computed from scratch") {
  for (const bool maximise : {false, true}) {
    compare({.maximise = maximise}, 1);
    compare({.min_resource = 2, .reduction_factor = 2, .maximise = maximise}, 2);
    compare({.reduction_factor = 3, .early_stopping_rates = {1}, .maximise = maximise}, 3);
    compare({.reduction_factor = 2, .bootstrap_count = 5, .maximise = maximise}, 4);
  }
}

TEST_CASE("HyperbandPruner decides as Optuna's pruner does, given the brackets") {
  for (const bool maximise : {false, true}) {
    auto options = hyperband_pruner_options(1, 81, 3);
    options.maximise = maximise;
    compare(options, 5);
    options = hyperband_pruner_options(2, 40, 2);
    options.bootstrap_count = 1;
    compare(options, 6);
  }
}

TEST_CASE("HyperbandPruner: brackets have the budgets of Hyperband's algorithm 1") {
  const auto options = hyperband_pruner_options(1, 81, 3);
  CHECK(options.early_stopping_rates == std::vector<std::size_t>{0, 1, 2, 3, 4});
  const std::vector<double> expected = {81, 34, 15, 8, 5};
  REQUIRE(options.probabilities.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(options.probabilities[i] == Approx(expected[i] / 143));

  CHECK(hyperband_pruner_options(1, 80, 3).probabilities.size() == 4);
  CHECK(hyperband_pruner_options(5, 5, 3).probabilities == std::vector<double>{1});
  // log(243) / log(3) is a little below 5, in Python as here.
  CHECK(hyperband_pruner_options(1, 243, 3).probabilities.size() == 5);
}

class Small {
 public:
  explicit Small(OptunaHalvingOptions options) : rule(std::move(options)) {}

  std::string reason(TrialId trial, double step, double loss) {
    return rule.judge(trial, trials[trial], step, std::span(&loss, 1)).reason;
  }

  OptunaHalvingRule rule;
  std::map<TrialId, RungVisitor> trials;
};

// The cases of Optuna's own tests of the rung that a trial has completed.
TEST_CASE("SuccessiveHalving: one report may pass several rungs") {
  Small world({.reduction_factor = 2});
  for (TrialId trial = 0; trial < 7; ++trial) {
    world.reason(trial, 7, 0.1 * static_cast<double>(trial + 1));
  }
  CHECK(world.reason(7, 7, 0.75) == "rung 1: 0.75 ranks 8 of 8; the best 4 end at 0.4");
  CHECK(world.trials[7].passed.size() == 1);
  world.reason(8, 7, 0.25);
  CHECK(world.trials[8].passed.size() == 2);
  CHECK(world.reason(9, 7, 0.05).empty());
  CHECK(world.trials[9].passed.size() == 3);
}

TEST_CASE("SuccessiveHalving: the first trial goes on, the first of a bootstrap do not") {
  Small world({.reduction_factor = 2});
  for (int step = 0; step < 10; ++step) CHECK(world.reason(0, step, 1).empty());
  CHECK(world.trials[0].passed.size() == 4);

  Small bootstrap({.reduction_factor = 2, .bootstrap_count = 1});
  CHECK(bootstrap.reason(0, 1, 1) == "rung 1: result 1 there, 1; the first 1 do not go on");
  CHECK(bootstrap.reason(1, 1, 1).empty());
}

TEST_CASE("SuccessiveHalving: what is not a number stops at a rung only, and leaves no trace") {
  Small world({.min_resource = 2, .reduction_factor = 2});
  const std::string before = world.rule.save().dump();
  CHECK(world.reason(0, 1, NAN).empty());
  CHECK(world.reason(0, 2, NAN) == "rung 2: the result is not a number");
  CHECK(world.rule.save().dump() == before);
}

TEST_CASE("SuccessiveHalving: states of other brackets, or of impossible numbers, are errors") {
  Small world({.reduction_factor = 2});
  world.reason(0, 5, 1);
  const json state = world.rule.save();
  REQUIRE(world.rule.loaded(state));
  CHECK_FALSE(OptunaHalvingRule(hyperband_pruner_options(1, 9, 3)).loaded(state));
  for (const json& wrong : {json("x"), json::array({"x"}), json::array({"AAAAAAAA+H8="})}) {
    json damaged = state;
    damaged[0] = wrong;
    CHECK_FALSE(world.rule.loaded(damaged));
  }
  CHECK(world.rule.possible(world.trials[0]));
  CHECK_FALSE(world.rule.possible({.bracket = 0, .passed = {1}}));
  CHECK_FALSE(world.rule.possible({.bracket = 0, .passed = {0, 1, 2, 3}}));
  CHECK_FALSE(world.rule.possible({.bracket = 1}));
}

}  // namespace attune::stopping_optuna_test
