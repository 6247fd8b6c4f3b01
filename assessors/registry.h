#pragma once
// The list of the assessors; works like tuners/registry.h.
#include <functional>

#include "assessors/assessor.h"
#include "base/catalog.h"
#include "base/rng.h"

namespace attune {

struct AssessorEntry {
  std::string name;
  std::vector<std::string> aliases;
  std::string summary;
  std::vector<Argument> arguments;  // without optimize_mode, which every assessor accepts
  bool any_arguments = false;       // `make` gets what the user wrote, optimize_mode included
  bool maximizes = true;            // the default optimize_mode
  bool saves = true;                // as in TunerEntry
  // `context.objectives` has one element or more. The first one's `maximize` is the assessor's
  // optimize_mode.
  std::function<Result<std::unique_ptr<Assessor>>(const json& args, const Context&, Rng)> make;
};

using AssessorRegistry = Catalog<AssessorEntry>;

// Do not call it in the initialiser of another global: the entries are globals themselves and may
// not be initialised yet.
AssessorRegistry builtin_assessors();
std::vector<Argument> all_arguments(const AssessorEntry& entry);
// All flaws in `arguments` that the declaration of the entry's arguments can show.
std::vector<ArgumentFlaw> flaws_of(const AssessorEntry& entry, const json& arguments);

// Like make_tuner(). An assessor has no argument `seed`: its generator is seeded with `seed`.
Result<std::unique_ptr<Assessor>> make_assessor(const AssessorRegistry& registry,
                                                std::string_view name, const json& arguments,
                                                const Context& context, std::uint64_t seed);

}  // namespace attune
