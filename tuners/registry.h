#pragma once
// The list of the tuners. To add one: write tuners/<name>.cpp with its entry, put one word into
// registry.cpp, and add a test file. A tuner has no header: the registry declares its entry, and so
// does the tuner `auto` for its members.
#include <functional>

#include "base/catalog.h"
#include "base/rng.h"
#include "base/trial.h"
#include "tuners/tuner.h"

namespace attune {

struct TunerEntry;
using TunerRegistry = Catalog<TunerEntry>;

// What a tuner is told when it is made.
struct TunerContext : Context {
  const TunerRegistry* tuners;  // of which it may take members; valid until it is made
};

struct TunerEntry {
  std::string name;                  // NNI's; upper and lower case are the same
  std::vector<std::string> aliases;  // NNI's older names
  std::string summary;               // one line of help
  std::vector<Argument> arguments;   // without optimize_mode and seed, which every tuner accepts
  bool any_arguments = false;  // `make` gets what the user wrote, optimize_mode and seed included
  bool maximizes = false;      // the default optimize_mode
  bool wants_reports = false;  // always; else Tuner::wants_reports() decides
  // Whether save() and load() are exact, and the same seed and calls give the same answers. Of a
  // plug-in that cannot do that the guard tells a new instance again what has happened.
  bool saves = true;
  // `args` are resolved: checked against `arguments`, defaults filled in. Errors are about
  // combinations that the declaration cannot express.
  std::function<Result<std::unique_ptr<Tuner>>(const json& args, const TunerContext&, Rng)> make;
};

// The built-in tuners, in the order of the list in registry.cpp. Do not call it in the initialiser
// of another global: the entries are globals themselves and may not be initialised yet.
TunerRegistry builtin_tuners();

// The entry's own arguments plus optimize_mode (maximize | minimize) and seed (integer or null).
std::vector<Argument> all_arguments(const TunerEntry& entry);
// All flaws in `arguments` that the declaration of the entry's arguments can show.
std::vector<ArgumentFlaw> flaws_of(const TunerEntry& entry, const json& arguments);

struct MadeTuner {
  std::unique_ptr<Tuner> tuner;
  std::string name;
  bool maximize = false;  // how the dispatcher must sign the first objective
  bool wants_reports = false;
  std::uint64_t seed = 0;  // given, or `fallback_seed`
};

// Finds the tuner, checks the arguments, and makes it. If context.objectives is empty, it becomes
// the metric "default" in the direction of optimize_mode. This room draws no entropy: main does,
// and passes it as `fallback_seed`.
Result<MadeTuner> make_tuner(const TunerRegistry& registry, std::string_view name,
                             const json& arguments, Context context, std::uint64_t fallback_seed);

// Makes a tuner that another one asks for proposals, with default arguments. Null: it cannot be
// one, because it wants reports or writes parameters of its own. context.objectives is not empty.
Result<std::unique_ptr<Tuner>> make_member(const TunerEntry& entry, const TunerContext& context,
                                           const Rng& rng);
// Throws AlgorithmFailure if the proposal of such a tuner lets another trial go on, which no
// built-in one does.
void check_is_new(const Proposal& proposal, const std::string& member);

}  // namespace attune
