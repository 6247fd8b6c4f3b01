#pragma once
// What every assessor must do, whatever its rule.
#include <memory>
#include <string_view>
#include <vector>

#include "assessors/registry.h"
#include "conformance/findings.h"

namespace attune::conformance {

struct AssessorSubject {
  AssessorEntry entry;
  json arguments = {};  // classArgs that it is checked with

  // The algorithm, made anew; without it a check cannot go on.
  std::unique_ptr<Assessor> make(Findings& findings) const;
};

struct AssessorCheck {
  std::string_view name;
  std::string_view demand;  // one sentence: what an assessor must do
  bool exact = false;       // only for an assessor that saves; see AssessorEntry::saves
  void (*run)(const AssessorSubject&, Findings&) = nullptr;
};

const std::vector<AssessorCheck>& assessor_checks();

// An AlgorithmFailure is a finding.
Findings run_check(const AssessorCheck& check, const AssessorSubject& subject);

}  // namespace attune::conformance
