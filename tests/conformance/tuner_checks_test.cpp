#include "conformance/tuner_checks.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/conformance/faulty_tuner.h"

namespace attune::tuner_checks_test {

using namespace conformance;

TunerSubject prepared(TunerEntry entry) {
  TunerSubject subject{.entry = std::move(entry)};
  Findings findings;
  prepare(subject, findings);
  for (const Finding& finding : findings.list()) FAIL(in_words(finding));
  return subject;
}

std::set<std::string> failed_checks(const TunerSubject& subject) {
  std::set<std::string> failed;
  for (const TunerCheck& check : tuner_checks()) {
    if (run_check(check, subject).failed() > 0) failed.emplace(check.name);
  }
  return failed;
}

TEST_CASE("tuner checks: an honest tuner passes all") {
  const TunerSubject subject = prepared(faulty_tuner(TunerFault::none));
  CHECK(subject.declined.size() == 1);
  CHECK(failed_checks(subject).empty());
}

TEST_CASE("tuner checks: each sees the fault that it is for") {
  const auto [fault, check] = GENERATE(table<TunerFault, std::string>({
      {TunerFault::leaves_the_space, "answers lie in the space, and exhausted is for ever"},
      {TunerFault::comes_back_from_exhausted,
       "answers lie in the space, and exhausted is for ever"},
      {TunerFault::ignores_the_seed, "same seed and calls, same answers"},
      {TunerFault::forgets_when_saved, "saved and loaded anywhere, the next answers are the same"},
      {TunerFault::answers_too_few_of_many, "batches of every size"},
      {TunerFault::fails_after_many_requests, "very many requests without a result"},
      {TunerFault::fails_with_many_running, "with more trials running than a model looks at"},
      {TunerFault::keeps_the_first_space, "set_space forgets everything"},
      {TunerFault::changes_when_it_declines, "a space that is declined changes nothing"},
      {TunerFault::loads_anything, "damaged states are errors and change nothing"},
      {TunerFault::begins_outside_the_space, "what earlier experiments found does no harm"},
  }));
  CAPTURE(check);
  CHECK(failed_checks(prepared(faulty_tuner(fault))).contains(check));
}

TEST_CASE("tuner checks: a tuner that fails is a finding with its own words") {
  const TunerSubject subject = prepared(faulty_tuner(TunerFault::fails_with_many_running));
  std::string text;
  for (const TunerCheck& check : tuner_checks()) {
    const Findings findings = run_check(check, subject);
    for (const Finding& finding : findings.list()) text += in_words(finding);
  }
  CHECK(text.find("expected an answer, came: too many trials") != std::string::npos);
}

TEST_CASE("tuner checks: of a tuner that does not save nothing is demanded twice") {
  TunerEntry entry = faulty_tuner(TunerFault::ignores_the_seed);
  entry.saves = false;
  const TunerSubject subject = prepared(std::move(entry));
  CHECK(failed_checks(subject).empty());
  for (const TunerCheck& check : tuner_checks()) {
    const Findings findings = run_check(check, subject);
    CAPTURE(check.name);
    CHECK((findings.examined() == 0) == check.exact);
    if (check.exact) CHECK(findings.skipped().size() == 1);
  }
}

TEST_CASE("tuner checks: a tuner that declines every space, or cannot be made, is not prepared") {
  TunerEntry entry = faulty_tuner(TunerFault::none);
  const bool made = GENERATE(true, false);
  entry.make = [made](const json&, const Context&, Rng) -> Result<std::unique_ptr<Tuner>> {
    if (!made) return fail("no licence");
    struct Never : FaultyTuner {
      using FaultyTuner::FaultyTuner;
      Result<void> set_space(const Space&) override { return fail("no such space"); }
    };
    return std::make_unique<Never>(nullptr, TunerFault::none);
  };
  TunerSubject subject{.entry = std::move(entry)};
  Findings findings;
  prepare(subject, findings);
  CHECK(findings.failed() > 0);
  CHECK(subject.checked.empty());
}

}  // namespace attune::tuner_checks_test
