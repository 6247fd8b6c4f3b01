// What every assessor must do, whatever its rule. A new one gets all of this for its word in the
// registry.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "tests/assessors/every_assessor.h"

namespace attune::conformance_test {

using every_assessor::make;

// A fixed stream of calls: 60 trials, four at a time, with ends of all kinds, results that are not
// finite, metrics that are missing, steps that are repeated. Call k is a function of k alone.
struct Script {
  struct Call {
    TrialId trial = 0;
    std::vector<Report> reports;  // empty: an end
    End end = End::completed;
  };
  std::vector<Call> calls;

  Script() {
    Rng rng(5);
    std::map<TrialId, std::vector<Report>> live;
    TrialId next = 0;
    while (next < 60 || !live.empty()) {
      while (next < 60 && live.size() < 4) live[next++] = {};
      auto chosen = live.begin();
      std::advance(chosen, static_cast<std::ptrdiff_t>(rng.index(live.size())));
      auto& [trial, reports] = *chosen;
      if (reports.size() >= 10 || (!reports.empty() && rng.index(12) == 0)) {
        const End ends[] = {End::completed, End::completed, End::failed, End::stopped,
                            End::diverged};
        calls.push_back({trial, {}, ends[rng.index(5)]});
        live.erase(chosen);
        continue;
      }
      const bool repeat = !reports.empty() && rng.index(8) == 0;
      Report report = {trial, std::ssize(reports), {{"default", rng.normal()}}};
      if (rng.index(15) == 0) report.metrics[0].second = rng.index(2) ? NAN : INFINITY;
      if (rng.index(30) == 0) report.metrics.clear();
      if (repeat) {
        report.step = static_cast<std::int64_t>(rng.index(reports.size()));
        reports[static_cast<std::size_t>(report.step)] = report;
      } else {
        reports.push_back(report);
      }
      calls.push_back({trial, reports, {}});
    }
  }
};

// "" for an end, else the decision in words.
std::string apply(Assessor& assessor, const Script::Call& call) {
  if (!call.reports.empty()) return every_assessor::in_words(assessor, call.trial, call.reports);
  assessor.trial_end(call.trial, call.end);
  return "";
}

TEST_CASE("assessors: same calls, same decisions, saved and loaded anywhere, the same rest") {
  const Script script;
  const AssessorRegistry registry = builtin_assessors();
  for (const AssessorEntry& entry : registry.entries()) {
    CAPTURE(entry.name);
    auto reference = make(entry);
    std::vector<std::string> decisions;
    std::vector<json> states;
    for (const auto& call : script.calls) {
      states.push_back(reference->save());
      decisions.push_back(apply(*reference, call));
    }
    auto again = make(entry);
    for (std::size_t i = 0; i < script.calls.size(); ++i) {
      REQUIRE(apply(*again, script.calls[i]) == decisions[i]);
    }
    for (std::size_t from = 0; from < script.calls.size(); from += 7) {
      auto loaded = make(entry);
      // Through text, as a snapshot goes.
      const auto state = parse_json(dump_json(states[from]));
      REQUIRE(state);
      REQUIRE(loaded->load(*state));
      CHECK(dump_json(loaded->save()) == dump_json(states[from]));
      for (std::size_t i = from; i < script.calls.size(); ++i) {
        REQUIRE(apply(*loaded, script.calls[i]) == decisions[i]);
      }
    }
  }
}

TEST_CASE("assessors: damaged states are errors and change nothing") {
  const Script script;
  const AssessorRegistry registry = builtin_assessors();
  for (const AssessorEntry& entry : registry.entries()) {
    CAPTURE(entry.name);
    auto assessor = make(entry);
    for (std::size_t i = 0; i < 100; ++i) apply(*assessor, script.calls[i]);
    const std::string before = dump_json(assessor->save());
    for (const json& damaged : {json(), json(3), json::array(), json("x"), json::object()}) {
      CHECK_FALSE(assessor->load(damaged));
    }
    const json good = assessor->save();
    for (const auto& [key, value] : good.items()) {
      for (const json& replacement : {json("x"), json(1.5), json::array({"x"})}) {
        json damaged = good;
        damaged[key] = replacement;
        CAPTURE(key, dump_json(replacement));
        CHECK_FALSE(assessor->load(damaged));
      }
      json damaged = good;
      damaged.erase(key);
      CHECK_FALSE(assessor->load(damaged));
    }
    CHECK(dump_json(assessor->save()) == before);
  }
}

TEST_CASE("assessors: the end of an unknown trial is nothing") {
  const AssessorRegistry registry = builtin_assessors();
  for (const AssessorEntry& entry : registry.entries()) {
    CAPTURE(entry.name);
    auto assessor = make(entry);
    const std::string before = dump_json(assessor->save());
    for (const End end : {End::completed, End::failed, End::stopped}) assessor->trial_end(99, end);
    CHECK(dump_json(assessor->save()) == before);
  }
}

TEST_CASE("assessors: arguments are declared, defaulted and checked") {
  const AssessorRegistry registry = builtin_assessors();
  for (const AssessorEntry& entry : registry.entries()) {
    CAPTURE(entry.name);
    CHECK_FALSE(entry.summary.empty());
    for (const Argument& argument : all_arguments(entry)) CHECK_FALSE(argument.help.empty());
    const auto defaults = resolve_arguments(entry.name, all_arguments(entry), {});
    REQUIRE(defaults);
    make(entry, *defaults);  // the defaults, spelled out, are accepted
    for (const char* mode : {"maximize", "minimize"}) make(entry, {{"optimize_mode", mode}});

    const auto unknown = make_assessor(registry, entry.name, {{"optimise_mode", "x"}}, {}, 0);
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().message.find("did you mean \"optimize_mode\"?") != std::string::npos);
    CHECK_FALSE(make_assessor(registry, entry.name, {{"optimize_mode", "max"}}, {}, 0));
    CHECK_FALSE(make_assessor(registry, entry.name, json::array(), {}, 0));
  }
  const auto missing = make_assessor(registry, "Medianstp", {}, {}, 0);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("did you mean \"Medianstop\"?") != std::string::npos);
}

}  // namespace attune::conformance_test
