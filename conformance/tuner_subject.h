#pragma once
// What the checks of tuners run over.
#include <memory>
#include <vector>

#include "conformance/findings.h"
#include "conformance/spaces.h"
#include "tuners/registry.h"

namespace attune::conformance {

struct TunerSubject {
  TunerEntry entry;
  json arguments = {};  // classArgs that it is checked with
  // Of the experiment, none: the metric "default" alone. Their metrics are drawn at random.
  std::vector<Objective> objectives = {};
  bool quick = false;    // few turns, for an algorithm whose turns cost milliseconds
  std::size_t step = 1;  // checks run over each so many-th space only, if it accepts one of these
  // prepare() finds out. `checked`: those of the accepted ones that checks run over.
  std::vector<const TestSpace*> accepted = {}, declined = {}, checked = {};

  int turns(int many, int few) const { return quick ? few : many; }
  // The algorithm, made anew; without it a check cannot go on.
  std::unique_ptr<Tuner> make(Findings& findings, std::uint64_t seed = 1) const;
};

// Checks the arguments that the entry declares, and offers every space to the tuner. A tuner may
// decline a space, but not all of them. After a finding the subject is not fit for a check.
void prepare(TunerSubject& subject, Findings& findings);

}  // namespace attune::conformance
