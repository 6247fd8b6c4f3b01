// What every assessor must do, whatever its rule: the checks of the room conformance/. A new one
// gets all of this for its word in the registry.
#include <catch2/catch.hpp>

#include "conformance/assessor_checks.h"
#include "conformance/assessor_script.h"

namespace attune::conformance_test {

using namespace conformance;

TEST_CASE("assessors: each does what every assessor must do") {
  const AssessorRegistry registry = builtin_assessors();
  for (const AssessorEntry& entry : registry.entries()) {
    for (const AssessorCheck& check : assessor_checks()) {
      const Findings findings = run_check(check, {.entry = entry});
      INFO(entry.name << ": " << check.demand);
      std::string text;
      for (const Finding& finding : findings.list()) text += in_words(finding) + "\n";
      CHECK(text == "");
      CHECK(findings.examined() > 0);
    }
  }
}

TEST_CASE("assessors: with default arguments no built-in one pauses") {
  const AssessorRegistry registry = builtin_assessors();
  const Script script;
  for (const AssessorEntry& entry : registry.entries()) {
    CAPTURE(entry.name);
    Findings findings;
    const auto assessor = AssessorSubject{.entry = entry}.make(findings);
    for (const auto& call : script.calls) {
      CHECK_FALSE(apply(*assessor, call, findings).starts_with("pause"));
    }
  }
}

TEST_CASE("assessors: a wrong name or argument gets the nearest one") {
  const AssessorRegistry registry = builtin_assessors();
  for (const AssessorEntry& entry : registry.entries()) {
    CAPTURE(entry.name);
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
