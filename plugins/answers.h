#pragma once
// Checks what a plug-in has answered. Errors say which answer, and what is wrong with it.
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "space/space.h"
#include "tuners/tuner.h"

namespace attune {

// What a human is told, in bytes of UTF-8.
inline constexpr std::size_t kMostReason = 1'000;
// At one report. A rule decides on some trials, never on this many.
inline constexpr std::size_t kMostDecisions = 100'000;

// The trials of which a tuner knows.
struct KnownTrials {
  std::function<bool(TrialId)> runs;  // proposed or adopted, and without an outcome
  TrialId most = -1;                  // the highest id that was proposed or adopted
};

// One answer for each of `ids`; points with exactly the active parameters, each inside its domain.
// A trial reads its budget among its parameters, so with a budget free parameters are an object.
// Constraints are not checked: a proposal that breaks one is withdrawn (Tuner::withdraw).
Result<void> check_answers(const std::vector<Answer>& answers, std::size_t ids, const Space& space,
                           const KnownTrials& known);

// Decisions on trials that run. A stop may be complete; no other decision is.
Result<void> check_decisions(const std::vector<Decision>& decisions, const KnownTrials& known);

Result<void> check_reason(const std::string& reason);

}  // namespace attune
