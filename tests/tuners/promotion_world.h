#pragma once
// A tuner that promotes trials (ASHA, PASHA) on a space of two reals, with short words for what
// trials do, and the recorded decisions of Syne Tune replayed on it.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "space/parse.h"
#include "tests/support/scheduler_traces.h"
#include "tests/support/through_text.h"
#include "tuners/registry.h"

namespace attune {

struct PromotionWorld {
  const TunerEntry& entry;
  json arguments;
  Context context;
  Space space;
  std::unique_ptr<Tuner> tuner;

  PromotionWorld(const TunerEntry& tuner_entry, json args,
                 const std::vector<Objective>& objectives = {},
                 const std::string& space_text = R"({"lr": {"_type": "uniform", "_value": [0, 1]},
                                                     "w": {"_type": "uniform", "_value": [0, 1]}})")
      : entry(tuner_entry),
        arguments(std::move(args)),
        space(parse_space(parse_json(space_text).value()).value()) {
    context.objectives = objectives;
    tuner = make();
  }

  std::unique_ptr<Tuner> make(std::uint64_t seed = 1) const {
    const TunerRegistry registry = builtin_tuners();
    auto made = make_tuner(registry, entry.name, arguments, context, seed);
    if (!made) FAIL(made.error().message);
    REQUIRE(made->wants_reports);
    REQUIRE(made->tuner->set_space(space));
    return std::move(made->tuner);
  }

  // Goes on with a copy from the saved state, as after a restart.
  void restart() {
    const json state = through_text(tuner->save());
    tuner = make(/*seed=*/99);
    const auto loaded = tuner->load(state);
    if (!loaded) FAIL(loaded.error().message);
    REQUIRE(dump_json(tuner->save()) == dump_json(state));
  }

  // The answer in words: "new to 1", "trial 3 to 9", "new to 9 from 3", "not yet", "exhausted".
  std::string ask(TrialId id) {
    const Answer answer = tuner->ask(std::vector{id})[0];
    if (std::holds_alternative<NotYet>(answer)) return "not yet";
    if (std::holds_alternative<Exhausted>(answer)) return "exhausted";
    const auto& proposal = std::get<Proposal>(answer);
    last = proposal.point;
    REQUIRE(proposal.budget);
    why = proposal.reason;
    CHECK_FALSE((why.empty() && (proposal.resume || proposal.checkpoint_from)));
    std::string text = proposal.resume ? "trial " + std::to_string(*proposal.resume) : "new";
    text += " to " + std::to_string(static_cast<int>(*proposal.budget));
    if (proposal.checkpoint_from) text += " from " + std::to_string(*proposal.checkpoint_from);
    return text;
  }

  // The decision in words: "-", "pause", "stop", "complete".
  std::string report(TrialId trial, double resource, double value, Metrics more = {}) {
    const std::string metric =
        context.objectives.empty() ? "default" : context.objectives[0].metric;
    Metrics metrics = {{metric, value}, {"epoch", resource}};
    metrics.insert(metrics.end(), more.begin(), more.end());
    decisions = tuner->on_report({trial, static_cast<std::int64_t>(resource) - 1, metrics});
    if (decisions.empty()) return "-";
    CHECK(decisions[0].trial == trial);
    CHECK_FALSE(decisions[0].reason.empty());
    if (decisions[0].action == Action::pause) return "pause";
    REQUIRE(decisions[0].action == Action::stop);
    return decisions[0].complete ? "complete" : "stop";
  }
  std::string reason() const { return decisions.at(0).reason; }

  void tell(TrialId trial, End end, std::optional<double> loss = {},
            std::optional<double> budget = {}, Point point = {{0.5, 0.5}}) {
    tuner->tell(std::vector{Outcome{trial, std::move(point), loss, {}, end, budget}});
  }

  Point last = {};                       // of the last proposal
  std::string why;                       // its reason
  std::vector<Decision> decisions = {};  // of the last report
};

// Replays a trace of one bracket. With `restart_every`, the tuner is saved and loaded after so many
// events. Calls after(event) for each result, and returns how many decisions it has compared.
template <class After>
int replay_promotions(PromotionWorld& world, const json& trace, int restart_every, After&& after) {
  int compared = 0;
  TrialId unused = 1'000'000;
  for (const json& event : trace["events"]) {
    CAPTURE(event.dump(), compared);
    const std::string kind = event[0];
    const TrialId trial = event[1];
    if (kind == "start") {
      REQUIRE(world.ask(trial) == "new to " + event[2]["epochs"].dump());
    } else if (kind == "resume") {
      const std::string expected = "trial " + event[1].dump() + " to " + event[2].dump();
      REQUIRE(world.ask(unused++) == expected);
    } else {
      REQUIRE(kind == "result");
      Metrics more;
      if (event.size() > 5 && event[5].contains("cost")) more = {{"cost", event[5]["cost"]}};
      const std::string decision = world.report(trial, event[2], event[3], more);
      const std::string expected = event[4] == "PAUSE"  ? "pause"
                                   : event[4] == "STOP" ? "complete"
                                                        : "-";
      REQUIRE(decision == expected);
      if (decision == "complete") {
        const double sign = world.context.objectives[0].maximize ? -1 : 1;
        world.tell(trial, End::completed, sign * double(event[3]));
      }
      after(event);
    }
    if (++compared % restart_every == 0) world.restart();
  }
  return compared;
}

// The arguments with which a trace was recorded.
inline json recorded_arguments(const json& trace) {
  const json& args = trace["args"];
  json result = {{"resource_attr", args["resource_attr"]}, {"max_t", trace["T"]}};
  for (const char* name : {"grace_period", "reduction_factor", "rung_increment", "brackets"}) {
    if (args.contains(name)) result[name] = args[name];
  }
  return result;
}

inline std::vector<Objective> recorded_objectives(const json& trace) {
  const Objective objective{.metric = trace["args"]["metric"].get<std::string>(),
                            .maximize = trace["mode"] == "max"};
  return {objective};
}

}  // namespace attune
