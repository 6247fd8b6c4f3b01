#pragma once
// What every tuner must do on every kind of space, whatever its rule.
#include <string_view>
#include <vector>

#include "conformance/tuner_subject.h"

namespace attune::conformance {

struct TunerCheck {
  std::string_view name;
  std::string_view demand;  // one sentence: what a tuner must do
  bool exact = false;       // only for a tuner that saves; see TunerEntry::saves
  void (*run)(const TunerSubject&, const Space&, Findings&) = nullptr;
};

const std::vector<TunerCheck>& tuner_checks();

// Runs the check on each space that the tuner accepts. An AlgorithmFailure is a finding.
Findings run_check(const TunerCheck& check, const TunerSubject& subject);

}  // namespace attune::conformance
