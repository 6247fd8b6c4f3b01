#include "rungs/median_rule.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "base/rng.h"
#include "base/saved_numbers.h"
#include "tests/support/scheduler_traces.h"

namespace attune::median_rule_test {

using Verdict = MedianRule::Verdict;
using TimedLoss = MedianRule::TimedLoss;

std::string word(const MedianRule::Judgement& judgement, bool hard_stop) {
  if (judgement.verdict == Verdict::good) return "CONTINUE";
  return judgement.verdict == Verdict::worse && hard_stop ? "STOP" : "PAUSE";
}

MedianRule::Options options_of(const json& args, bool completed_only) {
  MedianRule::Options options;
  options.completed_only = completed_only;
  options.grace = args.value("grace_period", 60.0);
  options.min_samples = args.value("min_samples_required", std::size_t{3});
  options.min_time_slice = args.value("min_time_slice", 0.0);
  options.hard_stop = args.value("hard_stop", true);
  return options;
}

// Replays a trace and compares every decision. Who is pending or paused follows from its events.
// With `reload_at` the rule is saved and loaded before this event.
void replay(const json& trace, bool completed_only, std::size_t reload_at) {
  const MedianRule::Options options = options_of(trace["args"], completed_only);
  const double sign = trace.value("mode", "max") == "max" ? -1 : 1;
  MedianRule rule(options);
  std::set<TrialId> waiting;
  std::map<TrialId, TimedLoss> latest;
  std::size_t judged = 0, number = 0;
  for (const json& event : trace["events"]) {
    if (number++ == reload_at) {
      const json state = rule.save();
      rule = MedianRule(options);
      REQUIRE(rule.load(state));
      REQUIRE(rule.save() == state);
    }
    const std::string kind = event[0];
    const TrialId trial = std::stoi(event[1].get<std::string>());
    CAPTURE(number, event.dump());
    if (kind == "add") {
      waiting.insert(trial);
    } else if (kind == "start" || kind == "unpause") {
      REQUIRE(waiting.erase(trial) == 1);
    } else if (kind == "result") {
      latest[trial] = {event[2], sign * event[3].get<double>()};
      const auto judgement = rule.report(trial, latest[trial], !waiting.empty());
      REQUIRE(word(judgement, options.hard_stop) == event[4].get<std::string>());
      if (event[4] == "PAUSE") waiting.insert(trial);
      ++judged;
    } else if (kind == "complete") {
      rule.complete(trial, TimedLoss{event[2], sign * event[3].get<double>()});
    } else {
      REQUIRE(kind == "complete_after_stop");
      rule.complete(trial, latest.at(trial));
    }
  }
  CHECK(judged > 400);
}

TEST_CASE("median rule: the decisions are those of Ray Tune 2024") {
  for (const auto& path : traces("ray_median_")) {
    CAPTURE(path);
    const json trace = read_trace(path);
    for (const std::size_t reload_at : {SIZE_MAX, std::size_t{300}}) {
      replay(trace, false, reload_at);
    }
  }
}

TEST_CASE("median rule: the decisions are those of Ray Tune 2018") {
  for (const auto& path : traces("ray18_median_")) {
    CAPTURE(path);
    const json trace = read_trace(path);
    for (const std::size_t reload_at : {SIZE_MAX, std::size_t{900}}) {
      replay(trace, true, reload_at);
    }
  }
}

TEST_CASE("median rule: the calls of Ray's unit tests") {
  const json calls = read_trace(traces_folder() / "ray_unit_scheduler_calls.json");
  int tests = 0;
  for (const auto& [name, test] : calls["tests"].items()) {
    if (test["events"].empty()) continue;
    const json& made = test["events"][0];
    if (made.value("cls", "") != "MedianStoppingRule") continue;
    CAPTURE(name);
    const json& args = made["args"];
    const MedianRule::Options options = options_of(args, false);
    const double sign = args["mode"] == "max" ? -1 : 1;
    MedianRule rule(options);
    for (const json& event : test["events"]) {
      const std::string op = event["op"];
      if (op == "new" || op == "on_trial_add") continue;
      CAPTURE(event.dump());
      const json& result = event["result"];
      const json& value = result[args["metric"].get<std::string>()];
      // Results that are not finite are not for this rule: Ray goes on, too.
      if (value.is_string()) {
        REQUIRE(event.value("decision", "CONTINUE") == "CONTINUE");
        continue;
      }
      const TimedLoss loss = {result[args.value("time_attr", "time_total_s")],
                              sign * value.get<double>()};
      if (op == "on_trial_complete") {
        rule.complete(event["trial"], loss);
      } else {
        REQUIRE(op == "on_trial_result");
        REQUIRE(word(rule.report(event["trial"], loss, false), options.hard_stop) ==
                event["decision"].get<std::string>());
      }
    }
    ++tests;
  }
  CHECK(tests >= 9);
}

// The rule from scratch: everything is computed from all results at each report.
struct Naive {
  struct Trial {
    std::vector<TimedLoss> results;
    bool completed = false, soft_stopped = false;
    double last_yield = -INFINITY;
  };
  MedianRule::Options options;
  std::map<TrialId, Trial> trials;

  MedianRule::Judgement judge(TrialId id, bool others_wait) {
    Trial& own = trials[id];
    const double time = own.results.back().time;
    double best = INFINITY;
    for (const auto& [t, loss] : own.results) best = std::min(best, loss);
    if (options.completed_only ? time <= options.grace : time < options.grace) return {};
    std::vector<double> means;
    for (const auto& [other, trial] : trials) {
      if (other == id || trial.results.empty()) continue;
      if (options.completed_only ? !trial.completed : trial.results.back().time < time) continue;
      double sum = 0;
      int count = 0;
      for (const auto& [t, loss] : trial.results) {
        if (t > time || (!options.completed_only && t < options.grace)) continue;
        sum += loss;
        ++count;
      }
      if (count > 0) means.push_back(sum / count);
    }
    std::ranges::sort(means);
    const std::size_t n = means.size();
    const double median = n == 0 ? 0 : (means[(n - 1) / 2] + means[n / 2]) / 2;
    MedianRule::Judgement judgement = {Verdict::good, time, best, median, n};
    if (n < std::max<std::size_t>(options.min_samples, 1)) {
      if (!options.completed_only && others_wait &&
          time - own.last_yield > options.min_time_slice) {
        own.last_yield = time;
        judgement.verdict = Verdict::yield;
      }
    } else if (best > median) {
      judgement.verdict = Verdict::worse;
      own.soft_stopped = !options.hard_stop;
    }
    return judgement;
  }
};

TEST_CASE("median rule: it is the rule computed from scratch") {
  const bool completed_only = GENERATE(false, true);
  // iterations, some skipped; whole and other times; seconds; times that go back, too
  const int clock = GENERATE(0, 1, 2, 3);
  CAPTURE(completed_only, clock);
  Rng rng(static_cast<std::uint64_t>(10 + clock));
  MedianRule::Options options;
  options.completed_only = completed_only;
  options.grace = 2;
  options.min_samples = 2;
  options.min_time_slice = 1.5;
  options.hard_stop = rng.index(2) == 0;
  MedianRule rule(options);
  Naive naive{options, {}};
  int verdicts[3] = {0, 0, 0};
  for (int call = 0; call < 6000; ++call) {
    const auto id = static_cast<TrialId>(rng.index(3) + static_cast<std::size_t>(call / 150));
    Naive::Trial& trial = naive.trials[id];
    const double last = trial.results.empty() ? 0 : trial.results.back().time;
    double step = 1;
    if (clock == 0 && rng.index(6) == 0) step = 3;
    if (clock == 1 && rng.index(3) == 0) step = 0.5;
    if (clock == 2) step = rng.uniform(0.01, 2);
    if (clock == 3 && rng.index(5) == 0) step = static_cast<double>(rng.index(4)) - 2;
    // Halves have exact sums, so that the order of summation does not matter.
    const TimedLoss result = {std::max(0.0, last + step),
                              std::round(8 * rng.normal()) / 8 + static_cast<double>(id % 5) / 2};
    const bool wait = rng.index(3) == 0;
    CAPTURE(call, id, result.time, result.loss);
    MedianRule::Judgement expected, found;
    const std::size_t kind = rng.index(20);
    if (kind == 0) {  // forgotten
      rule.forget(id);
      naive.trials.erase(id);
      continue;
    }
    if (kind == 1) {  // completed, with a final result or without
      const bool with = rng.index(2) == 0;
      if (with) trial.results.push_back(result);
      trial.completed = trial.completed || !trial.results.empty();
      rule.complete(id, with ? std::optional(result) : std::nullopt);
      continue;
    }
    if (kind == 2 && !trial.results.empty() && !trial.completed) {  // a result was reported again
      if (!trial.soft_stopped) {
        trial.results[rng.index(trial.results.size())].loss = result.loss;
        expected = naive.judge(id, wait);
      }
      found = rule.rewrite(id, trial.results, wait);
    } else {
      if (!trial.soft_stopped) {
        trial.results.push_back(result);
        expected = naive.judge(id, wait);
      }
      found = rule.report(id, result, wait);
    }
    REQUIRE(found.verdict == expected.verdict);
    REQUIRE(found.others == expected.others);
    REQUIRE(found.time == expected.time);
    REQUIRE(found.best == expected.best);
    REQUIRE(found.median == Approx(expected.median).margin(1e-12));
    REQUIRE(rule.soft_stopped(id) == trial.soft_stopped);
    ++verdicts[static_cast<int>(found.verdict)];
    if (call % 700 == 0) {
      const json state = rule.save();
      rule = MedianRule(options);
      REQUIRE(rule.load(state));
      REQUIRE(rule.save() == state);
    }
  }
  CHECK(verdicts[static_cast<int>(Verdict::worse)] > 50);
  CHECK(verdicts[static_cast<int>(Verdict::good)] > 50);
  if (!completed_only) CHECK(verdicts[static_cast<int>(Verdict::yield)] > 5);
}

TEST_CASE("median rule: a damaged state is an error and changes nothing") {
  MedianRule rule({.grace = 1, .min_samples = 1, .hard_stop = false});
  for (TrialId trial = 0; trial < 4; ++trial) {
    for (double time = 1; time < 4; ++time) rule.report(trial, {time, time + double(trial)}, false);
  }
  const json good = rule.save();
  for (const auto& [key, value] : good.items()) {
    CAPTURE(key);
    auto column = numbers_at(good, key);
    REQUIRE(column);
    json damaged = good;
    damaged.erase(key);
    CHECK_FALSE(rule.load(damaged));
    damaged[key] = 3;
    CHECK_FALSE(rule.load(damaged));
    std::vector<double> short_one(column->begin(), column->end() - 1);
    damaged[key] = save_numbers(short_one);
    CHECK_FALSE(rule.load(damaged));
    std::vector<double> not_a_number = *column;
    not_a_number[1] = NAN;
    damaged[key] = save_numbers(not_a_number);
    CHECK_FALSE(rule.load(damaged));
  }
  const auto with = [&](const char* key, std::vector<double> column) {
    json damaged = good;
    damaged[key] = save_numbers(column);
    return damaged;
  };
  CHECK_FALSE(rule.load(with("trials", {0, 1, 1, 2})));
  CHECK_FALSE(rule.load(with("lengths", {3, 3, 3, 4})));
  CHECK_FALSE(rule.load(with("lengths", {3, 3, 3, 2})));
  CHECK_FALSE(rule.load(with("lengths", {1e300, 3, 3, 3})));
  CHECK_FALSE(rule.load(with("lasts", {3, 3, 3, 2.5})));
  CHECK_FALSE(rule.load(with("completed", {0, 0, 0, 2})));
  CHECK(rule.save() == good);
}

}  // namespace attune::median_rule_test
