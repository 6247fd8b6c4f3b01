#pragma once
// The checks of tuners that are about states. What they demand is in tuner_checks.cpp.
#include "conformance/tuner_subject.h"

namespace attune::conformance {

void restored_anywhere(const TunerSubject& subject, const Space& space, Findings& findings);
void declined_changes_nothing(const TunerSubject& subject, const Space& space, Findings& findings);
void damaged_states(const TunerSubject& subject, const Space& space, Findings& findings);

}  // namespace attune::conformance
