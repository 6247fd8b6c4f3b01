// The rule of Hyperband, with all its flaws in Ray, against the decisions of Ray Tune.
#include <cmath>
#include <map>
#include <optional>

#include "rungs/band.h"
#include "tests/support/scheduler_traces.h"

namespace attune::band_traces_test {

using Call = Bands::Call;
using State = Bands::State;
using Ids = std::vector<TrialId>;

std::string word(Call call) {
  return call == Call::go_on ? "CONTINUE" : call == Call::pause ? "PAUSE" : "STOP";
}

TrialId id_of(const json& id) {
  return id.is_string() ? std::stoll(id.get<std::string>()) : TrialId(id);
}

double number_of(const json& value) {
  if (value.is_number()) return value;
  const std::string text = value;
  return text == "NaN" ? NAN : text == "Infinity" ? INFINITY : -INFINITY;
}

BandRule rule_of(const json& args) {
  BandRule rule{.as_ray = true};
  rule.max_t = args.value("max_t", rule.max_t);
  rule.factor = args.value("reduction_factor", rule.factor);
  rule.stop_last = args.value("stop_last_trials", rule.stop_last);
  return rule;
}

// The trials that got this call, in order.
Ids with(const std::vector<Bands::Ruling>& rulings, Call call) {
  Ids ids;
  for (const auto& ruling : rulings) {
    if (ruling.call == call) ids.push_back(ruling.trial);
  }
  return ids;
}

// Replays the events of a trace one after the other. Returns how many were compared.
int replay(const json& trace, BandRule rule) {
  Bands bands(rule);
  const std::string mode = trace.value("mode", "max");
  const double sign = mode == "max" ? -1 : 1;
  const json& events = trace["events"];
  std::size_t at = 0;
  int compared = 0;
  // The scheduler's own calls to the runner or the searcher follow the event that caused them.
  const auto check = [&](const std::string& what, const Ids& expected) {
    for (const TrialId trial : expected) {
      CAPTURE(what, trial, at);
      REQUIRE(at < events.size());
      REQUIRE(events[at][0] == what);
      REQUIRE(id_of(events[at++][1]) == trial);
      ++compared;
    }
  };
  const auto check_others = [&](const std::vector<Bands::Ruling>& rulings) {
    check("runner.stop_trial", with(rulings, Call::stop));
    if (rule.of_2018) check("executor.unpause_trial", with(rulings, Call::go_on));
    if (rule.for_bohb) check("searcher.on_unpause", with(rulings, Call::go_on));
  };
  while (at < events.size()) {
    if (at % 50 == 0) {  // saved and loaded, it makes the same decisions
      Bands loaded(rule);
      REQUIRE(loaded.load(parse_json(dump_json(bands.save())).value()));
      REQUIRE(dump_json(loaded.save()) == dump_json(bands.save()));
      bands = std::move(loaded);
    }
    const json& event = events[at];
    const std::string what = event[0];
    // Where nothing runs, HyperBandForBOHB judges unfilled brackets before it chooses.
    const bool by_choose = what.starts_with("runner.") || what.starts_with("searcher.");
    if (rule.for_bohb && by_choose && !bands.choose() && bands.running() == 0) {
      check_others(bands.proceed());
      continue;
    }
    ++at;
    ++compared;
    const TrialId trial = id_of(event[1]);
    CAPTURE(at, event.dump());
    if (what == "add") {
      bands.add(trial);
    } else if (what == "start" || what == "unpause") {
      REQUIRE(bands.choose() == trial);
      REQUIRE((bands.find(trial)->state == State::pending) ==
              (what == "start" && bands.find(trial)->time == 0));
      bands.set_state(trial, State::running);
    } else if (what == "result") {
      const auto verdict = bands.result(trial, event[2], sign * double(event[3]));
      REQUIRE(word(verdict.reporter.call) == event[4].get<std::string>());
      // It tells the searcher of a pause only if it did not judge the bracket.
      if (rule.for_bohb && event[4] == "PAUSE" && verdict.others.empty()) {
        check("searcher.on_pause", {trial});
      }
      check_others(verdict.others);
    } else if (what == "complete" || what == "complete_after_stop") {
      if (bands.find(trial)) check_others(bands.remove(trial));
    } else {
      FAIL("nothing of ours caused this");
    }
  }
  CHECK_FALSE(bands.choose());
  return compared;
}

void replay_all(const std::string& prefix, bool of_2018, bool for_bohb) {
  for (const auto& path : traces(prefix)) {
    CAPTURE(path);
    const json trace = read_trace(path);
    BandRule rule = rule_of(trace["args"]);
    rule.of_2018 = of_2018;
    rule.for_bohb = for_bohb;
    CHECK(replay(trace, rule) == std::ssize(trace["events"]));
  }
}

TEST_CASE("bands: the decisions of Ray's HyperBandScheduler") {
  replay_all("ray_hyperband_n50_", false, false);
  replay_all("ray_hyperband_n143_", false, false);
}

TEST_CASE("bands: the decisions of Ray's HyperBandScheduler of 2018") {
  replay_all("ray18_hyperband_n50_", true, false);
  replay_all("ray18_hyperband_n143_", true, false);
}

TEST_CASE("bands: the decisions of Ray's HyperBandForBOHB") {
  replay_all("ray_hyperband_bohb_", false, true);
}

// One unit test of Ray's: its calls in order, with the status of each trial that changed.
struct UnitTest {
  explicit UnitTest(const json& args) : rule(rule_of(args)), bands(rule) {
    time_attribute = args.value("time_attr", "training_iteration");
    metric = args["metric"];
    sign = args["mode"] == "max" ? -1 : 1;
  }

  void change(const json& event, const std::string& when) {
    if (!event.contains(when)) return;
    for (const auto& [trial, status] : event[when].items()) statuses[std::stoll(trial)] = status;
  }

  // In Ray the runner, not the scheduler, changes a status.
  void set_statuses() {
    for (const auto& [trial, status] : statuses) {
      if (!bands.find(trial)) continue;
      if (status == "PENDING") bands.set_state(trial, State::pending);
      if (status == "RUNNING") bands.set_state(trial, State::running);
      const bool ready = bands.find(trial)->state == State::ready;
      if (status == "PAUSED" && !ready) bands.set_state(trial, State::waiting);
    }
  }

  // `nested`: the trials that the runner removed, or nothing, inside of this call.
  void call(const json& event, const Ids& nested) {
    const std::string what = event["op"];
    change(event, "status_before");
    if (what != "on_trial_add") set_statuses();
    const TrialId trial = event.value("trial", -1);
    std::vector<Bands::Ruling> others;
    Ids removed;
    if (what == "on_trial_add") {
      bands.add(trial);
    } else if (what == "on_trial_result") {
      const json& result = event["result"];
      const auto verdict =
          bands.result(trial, result[time_attribute], sign * number_of(result[metric]));
      REQUIRE(word(verdict.reporter.call) == event["decision"].get<std::string>());
      others = verdict.others;
    } else if (what == "choose_trial_to_run") {
      auto chosen = bands.choose();
      if (rule.for_bohb && !chosen && bands.running() == 0) {
        others = bands.proceed();
        chosen = bands.choose();
      }
      REQUIRE(chosen.has_value() == !event["chosen"].is_null());
      if (chosen) REQUIRE(*chosen == event["chosen"]);
    } else {
      REQUIRE(
          (what == "on_trial_complete" || what == "on_trial_error" || what == "on_trial_remove"));
      if (what != "on_trial_remove") removed.push_back(trial);
      if (bands.find(trial)) others = bands.remove(trial);
    }
    const Ids stopped = with(others, Call::stop);
    removed.insert(removed.end(), stopped.begin(), stopped.end());
    REQUIRE(removed == nested);
    change(event, "status_after");
  }

  BandRule rule;
  Bands bands;
  std::string time_attribute, metric;
  double sign = 1;
  std::map<TrialId, std::string> statuses;
};

// Whether it is a new scheduler of ours. Ray's tests make some that they cannot use: with no
// metric.
bool is_new(const json& event) {
  return event["op"] == "new" && event["args"].contains("metric") &&
         (event["cls"] == "HyperBandScheduler" || event["cls"] == "HyperBandForBOHB");
}

TEST_CASE("bands: the calls of Ray's unit tests") {
  const json calls = read_trace(traces_folder() / "ray_unit_scheduler_calls.json");
  int tests = 0;
  for (const auto& [name, test] : calls["tests"].items()) {
    const json& events = test["events"];
    if (std::ranges::none_of(events, is_new)) continue;
    ++tests;
    std::optional<UnitTest> unit;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const json& event = events[i];
      CAPTURE(name, i, event.dump());
      if (event["op"] == "new") {
        if (!is_new(event)) continue;
        unit.emplace(event["args"]);
        unit->rule.for_bohb = event["cls"] == "HyperBandForBOHB";
        unit->bands = Bands(unit->rule);
        continue;
      }
      Ids nested;
      const std::size_t outer = i;
      while (i + 1 < events.size() && events[i + 1].contains("nested")) {
        const json& inner = events[++i];
        unit->change(inner, "status_before");
        // HyperBandForBOHB chooses again after it has judged.
        if (inner["op"] == "choose_trial_to_run") {
          CHECK(inner["chosen"] == events[outer]["chosen"]);
        } else {
          nested.push_back(inner["trial"]);
        }
      }
      unit->call(events[outer], nested);
    }
  }
  CHECK(tests >= 26);
}

}  // namespace attune::band_traces_test
