#pragma once
// Which tuners exist. Adding one: tuners/<name>.cpp with its entry, one word in registry.cpp, one
// line in CMakeLists.txt, one test file. No tuner has a header (those of TPE are its own).
#include <functional>

#include "base/catalog.h"
#include "base/rng.h"
#include "base/trial.h"
#include "tuners/tuner.h"

namespace attune {

struct TunerEntry {
  std::string name;                  // NNI's, letters of either case are accepted
  std::vector<std::string> aliases;  // NNI's older names
  std::string summary;               // one line of help
  std::vector<Argument> arguments;   // without optimize_mode and seed, which every tuner accepts
  bool maximizes = false;            // the default optimize_mode
  bool wants_reports = false;
  // `args` are resolved (defaults filled in). Errors are about combinations that the declaration
  // cannot express.
  std::function<Result<std::unique_ptr<Tuner>>(const json& args, const Context&, Rng)> make;
};

using TunerRegistry = Catalog<TunerEntry>;

// The built-in ones, in the order of the list in registry.cpp. Not for the initialiser of another
// global: the entries are globals themselves.
TunerRegistry builtin_tuners();

// The entry's own arguments plus optimize_mode (maximize | minimize) and seed (integer or null).
std::vector<Argument> all_arguments(const TunerEntry& entry);
// What is wrong with arguments for it, as far as the declaration says.
std::vector<ArgumentFlaw> flaws_of(const TunerEntry& entry, const json& arguments);

struct MadeTuner {
  std::unique_ptr<Tuner> tuner;
  std::string name;
  bool maximize = false;  // how the dispatcher must sign the first objective
  bool wants_reports = false;
  std::uint64_t seed = 0;  // given, or `fallback_seed`
};

// Finds, checks the arguments, and makes. context.objectives is filled in from optimize_mode when
// it is empty. Nothing here draws entropy: main does, and passes it as fallback_seed.
Result<MadeTuner> make_tuner(const TunerRegistry& registry, std::string_view name,
                             const json& arguments, Context context, std::uint64_t fallback_seed);

}  // namespace attune
