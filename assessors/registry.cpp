#include "assessors/registry.h"

#include "base/fidelity.h"

namespace attune {

// The one place where an assessor's name appears outside of its own file. A missing file is a link
// error, never a silent absence.
// clang-format off
#define ASSESSORS(X) \
  X(medianstop) X(curvefitting) \
  X(median_stopping) X(msr) X(percentile) X(median_pruner) X(threshold) X(patient) X(plateau) \
  X(wilcoxon) X(async_hyperband) X(asha) X(rush) X(successive_halving) X(hyperband_pruner) \
  X(moasha)
// clang-format on
#define DECLARE(name) extern const AssessorEntry name##_entry;
#define ADD(name) registry.add(name##_entry);

ASSESSORS(DECLARE)

AssessorRegistry builtin_assessors() {
  AssessorRegistry registry;
  ASSESSORS(ADD)
  return registry;
}

std::vector<Argument> all_arguments(const AssessorEntry& entry) {
  std::vector<Argument> all = {{.name = "optimize_mode",
                                .type = Argument::Type::choice,
                                .fallback = entry.maximizes ? "maximize" : "minimize",
                                .help = "direction of the first metric",
                                .choices = {"maximize", "minimize"}}};
  all.insert(all.end(), entry.arguments.begin(), entry.arguments.end());
  return all;
}

std::vector<ArgumentFlaw> flaws_of(const AssessorEntry& entry, const json& arguments) {
  if (entry.any_arguments && arguments.is_object()) return {};
  std::vector<ArgumentFlaw> flaws;
  resolve_arguments(all_arguments(entry), arguments, flaws);
  return flaws;
}

Result<std::unique_ptr<Assessor>> make_assessor(const AssessorRegistry& registry,
                                                std::string_view name, const json& arguments,
                                                const Context& context, std::uint64_t seed) {
  const AssessorEntry* entry = TRY(registry.find(name, "assessor"));
  Context own = context;
  if (own.objectives.empty()) own.objectives.emplace_back();
  if (entry->any_arguments)
    return entry->make(TRY(unchecked_arguments(entry->name, arguments)), own, Rng(seed));
  const std::vector<Argument> declared = all_arguments(*entry);
  json resolved =
      TRY(resolve_arguments(entry->name, declared, with_fidelity(arguments, declared, context)));
  own.objectives[0].maximize = resolved["optimize_mode"] == "maximize";
  resolved.erase("optimize_mode");
  return entry->make(resolved, own, Rng(seed));
}

}  // namespace attune
