#pragma once
// Shared by the tests of BOHB: the tuner on a space, and short words for what happens.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "space/parse.h"
#include "tuners/registry.h"

namespace attune {

namespace bohb_world {

inline const std::string kReal = R"({"x": {"_type": "uniform", "_value": [0, 1]}})";
inline const std::string kFinite = R"({"a": {"_type": "choice", "_value": ["u", "v", "w"]},
                                "i": {"_type": "randint", "_value": [0, 4]}})";
inline const std::string kNested = R"({"lr": {"_type": "loguniform", "_value": [1e-4, 1]},
  "opt": {"_type": "choice", "_value": [
    {"_name": "sgd", "momentum": {"_type": "uniform", "_value": [0, 1]}},
    {"_name": "adam", "beta": {"_type": "uniform", "_value": [0, 1]},
                      "eps": {"_type": "choice", "_value": ["small", "large"]}}]}})";

inline Result<MadeTuner> made(const json& arguments, const std::vector<Objective>& objectives = {},
                              std::uint64_t seed = 1, bool pauses = true) {
  const TunerRegistry registry = builtin_tuners();
  Context context;
  context.objectives = objectives;
  context.pauses = pauses;
  return make_tuner(registry, "BOHB", arguments, context, seed);
}

// With short words for what happens. By default the metric is minimised.
struct World {
  std::unique_ptr<Tuner> tuner;
  Space space;
  TrialId next = 0;
  std::map<TrialId, Proposal> proposals = {};
  std::vector<std::string> upkeep = {};

  explicit World(const json& arguments = json::object(), const std::string& text = kReal,
                 const std::vector<Objective>& objectives = {{}}, std::uint64_t seed = 1,
                 bool pauses = true) {
    auto result = made(arguments, objectives, seed, pauses);
    if (!result) FAIL(result.error().message);
    tuner = std::move(result->tuner);
    space = parse_space(parse_json(text).value()).value();
    REQUIRE(tuner->set_space(space));
  }

  Answer ask() {
    Answer answer = tuner->ask(std::vector{next})[0];
    if (const auto* proposal = std::get_if<Proposal>(&answer)) proposals[next] = *proposal;
    ++next;
    return answer;
  }
  // The id of a new trial.
  TrialId start() {
    REQUIRE(std::holds_alternative<Proposal>(ask()));
    return next - 1;
  }
  std::vector<TrialId> start(int count) {
    std::vector<TrialId> ids;
    for (int i = 0; i < count; ++i) ids.push_back(start());
    return ids;
  }
  bool waits() { return std::holds_alternative<NotYet>(ask()); }
  double x(TrialId id) const { return proposals.at(id).point.values[0]; }
  double budget(TrialId id) const { return proposals.at(id).budget.value(); }

  void tell(TrialId id, std::optional<double> loss, End end = End::completed,
            const Metrics& metrics = {}) {
    const Proposal& proposal = proposals.at(id);
    tuner->tell(std::vector{Outcome{id, proposal.point, loss, metrics, end, proposal.budget}});
  }
  // What is decided about checkpoints goes to `upkeep`, as in "save 3" and "drop 1".
  std::vector<Decision> report(TrialId id, std::int64_t step, const Metrics& metrics) {
    std::vector<Decision> decisions = tuner->on_report({id, step, metrics});
    std::erase_if(decisions, [&](const Decision& one) {
      const bool save = one.action == Action::checkpoint;
      if (!save && one.action != Action::drop_checkpoint) return false;
      upkeep.push_back((save ? "save " : "drop ") + std::to_string(one.trial));
      return true;
    });
    return decisions;
  }
  void import(const Point& point, double loss, std::optional<double> budget = {}) {
    tuner->tell(std::vector{Outcome{kImportedTrial, point, loss, {}, End::imported, budget}});
  }
};

inline json budgets(int least, int most, int eta) {
  return {{"min_budget", least}, {"max_budget", most}, {"eta", eta}};
}

}  // namespace bohb_world
}  // namespace attune
