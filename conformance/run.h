#pragma once
// Checks algorithms by their names, and prints what was found.
#include <cstdio>
#include <string>
#include <vector>

#include "assessors/registry.h"
#include "tuners/registry.h"

namespace attune::conformance {

struct Run {
  std::vector<std::string> names;  // of tuners and assessors; one that stands twice counts once
  json arguments = {};             // classArgs of each
  bool quick = false;              // fewer turns and spaces, for algorithms that are slow
};

// Prints a line for each check: "ok", "failed" or "not applicable". Below it stand the demand and
// the findings, or why it does not apply. The exit code: 0 if nothing has failed, else 1.
int run_conformance(const TunerRegistry& tuners, const AssessorRegistry& assessors, const Run& run,
                    std::FILE* out);

}  // namespace attune::conformance
