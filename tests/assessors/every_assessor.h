#pragma once
// What the tests that run over the registry of assessors have in common.
#include <catch2/catch.hpp>
#include <memory>
#include <span>
#include <string>

#include "assessors/registry.h"

namespace attune::every_assessor {

inline std::unique_ptr<Assessor> make(const AssessorEntry& entry, const json& arguments = {}) {
  auto made = make_assessor(builtin_assessors(), entry.name, arguments, {}, 42);
  if (!made) FAIL(entry.name << ": " << made.error().message);
  return *std::move(made);
}

// Asks the assessor, and checks what holds of each decision with default arguments.
inline std::string in_words(Assessor& assessor, TrialId trial, std::span<const Report> reports) {
  const Decision decision = assessor.assess(trial, reports);
  REQUIRE(decision.trial == trial);
  REQUIRE((decision.action == Action::keep_going || decision.action == Action::stop));
  REQUIRE(decision.reason.empty() == (decision.action == Action::keep_going));
  if (decision.action == Action::keep_going) return "go";
  return (decision.complete ? "complete: " : "stop: ") + decision.reason;
}

}  // namespace attune::every_assessor
