#pragma once
// The check of tuners that is about earlier experiments. What it demands is in tuner_checks.cpp.
#include "conformance/tuner_subject.h"

namespace attune::conformance {

void earlier_experiments(const TunerSubject& subject, const Space& space, Findings& findings);

}  // namespace attune::conformance
