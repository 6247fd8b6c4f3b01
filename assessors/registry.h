#pragma once
// Which assessors exist; built like tuners/registry.h.
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
  bool maximizes = true;            // the default optimize_mode
  // `context.objectives` has one element, whose `maximize` is the assessor's optimize_mode.
  std::function<Result<std::unique_ptr<Assessor>>(const json& args, const Context&, Rng)> make;
};

using AssessorRegistry = Catalog<AssessorEntry>;

// Not for the initialiser of another global: the entries are globals themselves.
AssessorRegistry builtin_assessors();
std::vector<Argument> all_arguments(const AssessorEntry& entry);
// What is wrong with arguments for it, as far as the declaration says.
std::vector<ArgumentFlaw> flaws_of(const AssessorEntry& entry, const json& arguments);

// As make_tuner; an assessor has no seed of its own, its generator is seeded with `seed`.
Result<std::unique_ptr<Assessor>> make_assessor(const AssessorRegistry& registry,
                                                std::string_view name, const json& arguments,
                                                const Context& context, std::uint64_t seed);

}  // namespace attune
