#include "tuners/registry.h"

#include <algorithm>

#include "base/algorithm_failure.h"
#include "base/fidelity.h"

namespace attune {

// The list of all tuners. A missing file is a link error, never a silent absence.
// clang-format off
#define TUNERS(X) \
  X(auto_tuner) X(ensemble) X(random) X(grid) X(batch) X(tpe) X(gp) X(turbo) X(cma_es) X(smac) \
  X(dngo) X(metis) X(qmc) X(anneal) X(evolution) X(regularized_evolution) X(ppo) X(nsga2) \
  X(freeze_thaw) X(asha_tuner) X(pasha) X(bohb) X(dehb) X(hyperband) X(sync_hyperband) \
  X(hyperband_scheduler) X(hyperband_for_bohb) X(one_epoch) X(pbt) X(population_based_training) \
  X(pb2) X(pbt_replay)
// clang-format on
#define DECLARE(name) extern const TunerEntry name##_entry;
#define ADD(name) registry.add(name##_entry);

TUNERS(DECLARE)

TunerRegistry builtin_tuners() {
  TunerRegistry registry;
  TUNERS(ADD)
  return registry;
}

std::vector<Argument> all_arguments(const TunerEntry& entry) {
  std::vector<Argument> all = {{.name = "optimize_mode",
                                .type = Argument::Type::choice,
                                .fallback = entry.maximizes ? "maximize" : "minimize",
                                .help = "direction of the first metric",
                                .choices = {"maximize", "minimize"}},
                               {.name = "seed",
                                .type = Argument::Type::integer,
                                .fallback = nullptr,
                                .help = "of all random numbers; null: a new one for each run",
                                .low = 0,
                                .high = 9007199254740992.0}};
  all.insert(all.end(), entry.arguments.begin(), entry.arguments.end());
  return all;
}

namespace {

// NNI writes null where a choice has the option "none".
json null_as_none(json given, const std::vector<Argument>& declared) {
  if (!given.is_object()) return given;
  for (const Argument& argument : declared) {
    const auto found = given.find(argument.name);
    if (found == given.end()) continue;
    *found = null_as_none(*found, argument.members);
    const bool has_none = std::ranges::find(argument.choices, "none") != argument.choices.end();
    if (found->is_null() && has_none) *found = "none";
  }
  return given;
}

Result<const TunerEntry*> find_tuner(const TunerRegistry& registry, std::string_view name) {
  auto found = registry.find(name, "tuner");
  if (found || name != "NetworkMorphism") return found;
  return fail(
      "NNI's tuner \"NetworkMorphism\" is not in attuned; the nearest is "
      "\"RegularizedEvolution\". All others: attuned --list");
}

}  // namespace

std::vector<ArgumentFlaw> flaws_of(const TunerEntry& entry, const json& arguments) {
  if (entry.any_arguments && arguments.is_object()) return {};
  const std::vector<Argument> declared = all_arguments(entry);
  std::vector<ArgumentFlaw> flaws;
  resolve_arguments(declared, null_as_none(arguments, declared), flaws);
  return flaws;
}

namespace {

// The arguments may have a direction and a seed, which we learn then; they are not ours to check.
Result<MadeTuner> make_unchecked(const TunerEntry& entry, const json& arguments,
                                 TunerContext context, std::uint64_t fallback_seed) {
  const json given = TRY(unchecked_arguments(entry.name, arguments));
  MadeTuner made;
  made.name = entry.name;
  const json mode = given.value("optimize_mode", json());
  const bool asked = mode == "maximize" || (mode != "minimize" && entry.maximizes);
  made.maximize = context.objectives.empty() ? asked : context.objectives[0].maximize;
  const json seed = given.value("seed", json());
  made.seed = seed.is_number_unsigned() ? seed.get<std::uint64_t>() : fallback_seed;
  if (context.objectives.empty()) context.objectives = {{"default", made.maximize}};
  made.tuner = TRY(entry.make(given, context, Rng(made.seed)));
  made.wants_reports = entry.wants_reports || made.tuner->wants_reports();
  return made;
}

}  // namespace

Result<MadeTuner> make_tuner(const TunerRegistry& registry, std::string_view name,
                             const json& arguments, Context of_experiment,
                             std::uint64_t fallback_seed) {
  TunerContext context{std::move(of_experiment), &registry};
  const TunerEntry* entry = TRY(find_tuner(registry, name));
  if (entry->any_arguments)
    return make_unchecked(*entry, arguments, std::move(context), fallback_seed);
  const std::vector<Argument> declared = all_arguments(*entry);
  const json given = with_fidelity(null_as_none(arguments, declared), declared, context);
  json resolved = TRY(resolve_arguments(entry->name, declared, given));
  MadeTuner made;
  made.name = entry->name;
  made.maximize = resolved["optimize_mode"] == "maximize";
  made.seed = resolved["seed"].is_null() ? fallback_seed : resolved["seed"].get<std::uint64_t>();
  resolved.erase("optimize_mode");
  resolved.erase("seed");
  if (context.objectives.empty()) context.objectives = {{"default", made.maximize}};
  made.tuner = TRY(entry->make(resolved, context, Rng(made.seed)));
  made.wants_reports = entry->wants_reports || made.tuner->wants_reports();
  return made;
}

Result<std::unique_ptr<Tuner>> make_member(const TunerEntry& entry, const TunerContext& context,
                                           const Rng& rng) {
  json arguments = json::object();
  if (!entry.any_arguments) {
    arguments = TRY(resolve_arguments(entry.name, entry.arguments, arguments));
  }
  auto tuner = TRY(entry.make(arguments, context, rng));
  if (tuner->wants_reports() || tuner->any_parameters()) return nullptr;
  return tuner;
}

void check_is_new(const Proposal& proposal, const std::string& member) {
  if (!proposal.resume && !proposal.checkpoint_from) return;
  throw AlgorithmFailure(member + " lets another trial go on, and may only propose new ones here");
}

}  // namespace attune
