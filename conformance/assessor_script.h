#pragma once
// What an assessor hears in the checks.
#include <string>
#include <vector>

#include "assessors/assessor.h"
#include "conformance/findings.h"

namespace attune::conformance {

// A fixed stream of calls: 60 trials, four at a time, with ends of all kinds, results that are not
// finite, metrics that are missing, steps that are repeated. Call k is a function of k alone.
struct Script {
  struct Call {
    TrialId trial = 0;
    std::vector<Report> reports;  // empty: an end
    End end = End::completed;
  };
  std::vector<Call> calls;

  Script();
};

// Makes the call, and checks what holds of each decision. "" for an end, else the decision as a
// text: "go", "stop: reason", "complete: reason", "pause: reason".
std::string apply(Assessor& assessor, const Script::Call& call, Findings& findings);

}  // namespace attune::conformance
