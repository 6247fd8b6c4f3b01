#pragma once
// A tuner with brackets, driven by hand or by a recorded trace of Syne Tune.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "space/parse.h"
#include "tests/support/scheduler_traces.h"
#include "tuners/registry.h"

namespace attune {

// Reports have the metrics "default" and "epoch"; the arguments must say so.
class BracketWorld {
 public:
  BracketWorld(const TunerEntry& entry, json arguments,
               const std::string& text = R"({"x": {"_type": "uniform", "_value": [0, 1]}})",
               bool pauses = true)
      : entry_(&entry), arguments_(std::move(arguments)), pauses_(pauses) {
    space = parse_space(parse_json(text).value()).value();
    tuner = make(1);
  }

  std::unique_ptr<Tuner> make(std::uint64_t seed) const {
    const TunerRegistry registry = builtin_tuners();
    Context context;
    context.pauses = pauses_;
    auto made = make_tuner(registry, entry_->name, arguments_, context, seed);
    if (!made) FAIL(made.error().message);
    REQUIRE(made->tuner->set_space(space));
    return std::move(made->tuner);
  }

  // A new tuner goes on from the saved state of this one.
  void restart() {
    const auto state = parse_json(dump_json(tuner->save()));
    REQUIRE(state);
    tuner = make(999);
    const auto loaded = tuner->load(*state);
    if (!loaded) FAIL(loaded.error().message);
    CHECK(dump_json(tuner->save()) == dump_json(*state));
  }

  Answer ask() { return tuner->ask(std::vector{next++})[0]; }
  Answer ask_again(TrialId id) { return tuner->ask(std::vector{id})[0]; }

  // What is answered, in short: "new 9", "resume 3 27" (trial 3 up to 27), "from 3 27" (a new trial
  // from its checkpoint), "not yet" or "exhausted".
  std::string asked() { return shorten(ask()); }
  std::string shorten(const Answer& answer) {
    if (std::holds_alternative<NotYet>(answer)) return "not yet";
    if (std::holds_alternative<Exhausted>(answer)) return "exhausted";
    const auto& proposal = std::get<Proposal>(answer);
    REQUIRE(proposal.budget);
    const std::string budget = " " + std::to_string(static_cast<int>(*proposal.budget));
    const TrialId id = proposal.resume.value_or(next - 1);
    points[id] = proposal.point;
    budgets[id] = *proposal.budget;
    CHECK(proposal.reason.empty() == !(proposal.resume || proposal.checkpoint_from));
    why = proposal.reason;
    if (proposal.resume) return "resume " + std::to_string(*proposal.resume) + budget;
    if (proposal.checkpoint_from) {
      CHECK(proposal.point == points.at(*proposal.checkpoint_from));
      return "from " + std::to_string(*proposal.checkpoint_from) + budget;
    }
    return "new" + budget;
  }

  std::vector<Decision> report(TrialId trial, double epoch, double value) {
    return tuner->on_report({trial, steps_[trial]++, {{"default", value}, {"epoch", epoch}}});
  }

  // All decisions: "pause 3", "stop 3", "complete 3", "save 3", "drop 3"; those of others than the
  // reporter are included.
  std::vector<std::string> reported(TrialId trial, double epoch, double value) {
    std::vector<std::string> all;
    for (const Decision& one : report(trial, epoch, value)) all.push_back(shorten(one));
    return all;
  }
  static std::string shorten(const Decision& one) {
    const std::string word = one.action == Action::pause             ? "pause"
                             : one.action == Action::drop_checkpoint ? "drop"
                             : one.action == Action::checkpoint      ? "save"
                             : one.complete                          ? "complete"
                                                                     : "stop";
    CHECK_FALSE(one.reason.empty());
    return word + " " + std::to_string(one.trial);
  }

  void end(TrialId trial, End end, std::optional<double> loss = {},
           std::optional<double> budget = {}) {
    Metrics metrics;
    if (loss) metrics.emplace_back("default", *loss);
    tuner->tell(std::vector{
        Outcome{trial, points.at(trial), loss, metrics, end, budget ? budget : budgets[trial]}});
  }

  std::unique_ptr<Tuner> tuner;
  Space space;
  TrialId next = 0;
  std::map<TrialId, Point> points;
  std::map<TrialId, double> budgets;
  std::string why;  // the reason of the last proposal

 private:
  const TunerEntry* entry_;
  json arguments_;
  bool pauses_;  // the manager does
  std::map<TrialId, std::int64_t> steps_;
};

// Replays a trace, and compares which trial is started or resumed up to which level, and what is
// decided about it at each report. Returns the number of comparisons. The state is saved and loaded
// after each `restart_every` events.
//
// Two decisions have other names here. At the largest resource, and in brackets that do not
// promote, a trial is complete, where Syne Tune pauses or stops it. A trial that a full rung leaves
// behind is stopped at once; Syne Tune pauses it for ever, so it must never be resumed later.
inline int replay_brackets(const TunerEntry& entry, const json& trace, std::size_t restart_every) {
  const json& args = trace["args"];
  json arguments = {{"optimize_mode", args["mode"] == "max" ? "maximize" : "minimize"},
                    {"resource_attr", "epoch"},
                    {"max_t", trace["T"]},
                    {"grace_period", args["grace_period"]},
                    {"reduction_factor", args["reduction_factor"]}};
  if (args.contains("brackets")) arguments["brackets"] = args["brackets"];
  BracketWorld world(entry, arguments);
  std::map<int, TrialId> ours;
  std::set<TrialId> stopped;
  int compared = 0;
  std::size_t count = 0;
  for (const json& event : trace["events"]) {
    CAPTURE(count, dump_json(event));
    const std::string kind = event[0];
    const int trial = event[1];
    if (kind == "start") {
      REQUIRE(world.asked() == "new " + std::to_string(event[2]["epochs"].get<int>()));
      ours[trial] = world.next - 1;
    } else if (kind == "resume") {
      REQUIRE(world.asked() == "resume " + std::to_string(ours.at(trial)) + " " +
                                   std::to_string(event[2].get<int>()));
      REQUIRE_FALSE(stopped.contains(ours.at(trial)));
    } else {
      REQUIRE(kind == "result");
      const double epoch = event[2];
      std::vector<std::string> own;
      for (const Decision& one : world.report(ours.at(trial), epoch, event[3])) {
        if (one.action == Action::stop && !one.complete) stopped.insert(one.trial);
        if (one.trial != ours.at(trial) || one.action == Action::drop_checkpoint) continue;
        own.push_back(one.complete ? "complete" : one.action == Action::pause ? "pause" : "stop");
      }
      const std::string expected = event[4];
      if (expected == "CONTINUE") {
        REQUIRE(own.empty());
      } else {
        REQUIRE(own.size() == 1);
        const bool complete = expected == "STOP" || epoch >= trace["T"].get<double>();
        REQUIRE((own[0] == "complete") == complete);
      }
    }
    ++compared;
    if (++count % restart_every == 0) world.restart();
  }
  CHECK(compared > 100);
  return compared;
}

// Puts other values into every part of a saved state: load() must return an error and change
// nothing, or load a state with which the tuner goes on.
inline void check_damaged_states(BracketWorld& world) {
  const json good = world.tuner->save();
  int refused = 0;
  const auto attempt = [&](const json& damaged) {
    const auto tuner = world.make(5);
    REQUIRE(tuner->load(good));
    if (tuner->load(damaged)) {
      tuner->ask(std::vector<TrialId>{1000, 1001, 1002});
      for (const auto& [trial, point] : world.points) {
        tuner->on_report({trial, 0, {{"default", 1}, {"epoch", 3}}});
        tuner->tell(std::vector{Outcome{trial, point, 1, {}, End::completed, {}}});
      }
      tuner->ask(std::vector<TrialId>{2000, 2001, 2002});
    } else {
      ++refused;
      REQUIRE(dump_json(tuner->save()) == dump_json(good));
    }
  };
  const json flat = good.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    if (pointer.starts_with("/searcher")) continue;  // its own test
    CAPTURE(pointer);
    for (const json& other : {json("x"), json(1.5), json(), json(-1), json(7), json(true),
                              json::array(), json(1'000'000'000'000)}) {
      if (other == value) continue;
      json damaged = good;
      damaged[json::json_pointer(pointer)] = other;
      attempt(damaged);
    }
  }
  CHECK(refused > 50);
}

}  // namespace attune
