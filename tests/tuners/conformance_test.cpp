// What every tuner must do, whatever its rule: the checks of the room conformance/. A new tuner
// gets all of this for its word in the registry.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "conformance/experiment.h"
#include "conformance/tuner_checks.h"

namespace attune::conformance_test {

using namespace conformance;

// An empty text: nothing was found.
std::string in_words(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings.list()) text += conformance::in_words(finding) + "\n";
  return text;
}

// Of those that fit models a turn costs milliseconds, with sanitizers tens of them, and the
// interesting things happen early: when random points end, and at the next fits.
TunerSubject subject_of(const TunerEntry& entry, json arguments = {},
                        const std::vector<Objective>& objectives = {}) {
  constexpr const char* kModels[] = {"auto", "ensemble", "GP",    "TuRBO",
                                     "SMAC", "DNGO",     "Metis", "FreezeThaw"};
  TunerSubject subject{.entry = entry, .arguments = std::move(arguments), .objectives = objectives};
  subject.quick = std::ranges::find(kModels, entry.name) != std::end(kModels);
  // A rule with rungs leaves configurations to its searcher: a few spaces are enough.
  if (entry.wants_reports) subject.step = 5;
  Findings findings;
  prepare(subject, findings);
  INFO(entry.name << dump_json(subject.arguments));
  CHECK(in_words(findings).empty());
  return subject;
}

// All with their defaults; again where an argument chooses another rule.
std::vector<TunerSubject> subjects() {
  const TunerRegistry registry = builtin_tuners();
  std::vector<TunerSubject> all;
  for (const TunerEntry& entry : registry.entries()) all.push_back(subject_of(entry));
  const auto add = [&](const char* name, json arguments) {
    all.push_back(subject_of(**registry.find(name, "tuner"), std::move(arguments)));
  };
  add("TPE", {{"multivariate", false}});
  add("Anneal", {{"parallel_optimize", true}});
  add("auto", {{"max_t", 9}});
  const std::vector<Objective> several = {{"default"}, {"score", true}, {"size", false, 0.5}};
  for (const char* name : {"FreezeThaw", "ASHA"}) {
    all.push_back(subject_of(**registry.find(name, "tuner"), {{"max_t", 9}}, several));
  }
  return all;
}

void run_over_registry(const TunerCheck& check) {
  for (const TunerSubject& subject : subjects()) {
    const Findings findings = run_check(check, subject);
    INFO(subject.entry.name << dump_json(subject.arguments) << ": " << check.demand);
    CHECK(in_words(findings) == "");
  }
}

constexpr std::string_view kPrefix = "tuners: ";

// The check that the running test is named after.
void run_this_check() {
  const std::string test = Catch::getResultCapture().getCurrentTestName();
  const auto& all = tuner_checks();
  const auto check = std::ranges::find(all, test.substr(kPrefix.size()), &TunerCheck::name);
  REQUIRE(check != all.end());
  run_over_registry(*check);
}

// A test for each check, so that they can run side by side.
TEST_CASE("tuners: answers lie in the space, and exhausted is for ever") { run_this_check(); }
TEST_CASE("tuners: same seed and calls, same answers") { run_this_check(); }
TEST_CASE("tuners: saved and loaded anywhere, the next answers are the same") { run_this_check(); }
TEST_CASE("tuners: batches of every size") { run_this_check(); }
TEST_CASE("tuners: very many requests without a result") { run_this_check(); }
TEST_CASE("tuners: with more trials running than a model looks at") { run_this_check(); }
TEST_CASE("tuners: set_space forgets everything") { run_this_check(); }
TEST_CASE("tuners: a space that is declined changes nothing") { run_this_check(); }
TEST_CASE("tuners: damaged states are errors and change nothing") { run_this_check(); }
TEST_CASE("tuners: what earlier experiments found does no harm") { run_this_check(); }

TEST_CASE("tuners: each check of the suite is a test") {
  std::set<std::string> tests;
  for (const auto& test : Catch::getRegistryHub().getTestCaseRegistry().getAllTests()) {
    tests.insert(test.name);
  }
  for (const TunerCheck& check : tuner_checks()) {
    CAPTURE(check.name);
    CHECK(tests.contains(std::string(kPrefix) + std::string(check.name)));
  }
}

// What an answer costs must not grow with the trials that run: of very many the oldest and the
// newest may shape it. A plug-in need not care.
TEST_CASE("tuners: of very many running trials most do not shape the answers") {
  run_over_registry(
      {.name = "most do not shape the answers",
       .demand = "500 of 2,500 running trials make no difference.",
       .run = [](const TunerSubject& subject, const Space& space, Findings& findings) {
         const auto is_real = [](const Param& param) {
           return !param.condition && is_continuous(param.domain);
         };
         // In a finite space none of them is proposed again.
         if (space.params.size() > 6 || std::ranges::none_of(space.params, is_real)) return;
         Experiment many(subject, space, findings), more(subject, space, findings);
         for (Experiment* one : {&many, &more}) one->turns(subject.turns(40, 15));
         for (Experiment* one : {&many, &more}) one->end_all_but(0);
         for (Experiment* one : {&many, &more}) one->adopt(1000, 1);
         more.adopt(500, 2);
         for (Experiment* one : {&many, &more}) one->adopt(1000, 3);
         const auto answers = many.ask(3);
         findings.expect_same(more.ask(3), answers, "the same answers");
       }});
}

TEST_CASE("tuners: the error for a space that is declined names the cure") {
  for (const TunerSubject& subject : subjects()) {
    for (const TestSpace* space : subject.declined) {
      Findings findings;
      const auto declined = subject.make(findings)->set_space(space->space);
      CAPTURE(subject.entry.name, space->name);
      REQUIRE_FALSE(declined);
      CAPTURE(declined.error().message);
      CHECK(declined.error().message.starts_with("search_space"));
      CHECK(declined.error().message.find(subject.entry.name + " needs") != std::string::npos);
    }
  }
}

}  // namespace attune::conformance_test
