#pragma once
// What a plug-in says, before anybody has checked it.
//
// A plug-in is an algorithm that is not part of attuned: a shared object, or a program in any
// language. A transport (one for each of these) implements PluginTuner and PluginAssessor.
// GuardedTuner and GuardedAssessor check the answers, and make a Tuner and an Assessor of them.
//
// Every call may fail: the plug-in has crashed, has not answered in time, or has answered what
// nobody can read. The error says what happened; the caller names the plug-in. After an error the
// instance cannot be used any further until restart() has succeeded. One thread at a time.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/arguments.h"
#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "space/space.h"
#include "tuners/tuner.h"

namespace attune {

// What a plug-in says of one of its algorithms before it is made. Whoever reads it checks it, as
// description.h says.
struct PluginDescription {
  enum class Kind { tuner, assessor };

  Kind kind = Kind::tuner;
  std::string name = {};
  std::string summary = {};              // one line of help
  std::vector<Argument> arguments = {};  // as in TunerEntry
  bool maximizes = false;                // the default optimize_mode
  bool wants_reports = false;            // a tuner: calls on_report()
  bool saves = false;                    // save() and load() work, and are exact
  // Its arguments are what the user wrote: it checks them itself, and `arguments` is empty.
  bool any_arguments = false;
  bool any_parameters = false;  // a tuner: as Tuner::any_parameters()
};

// What an algorithm is told when it is made, and again when it is restarted.
struct PluginSetup {
  json arguments;  // resolved
  Context context;
  std::uint64_t seed = 0;
};

class PluginTuner {
 public:
  virtual ~PluginTuner() = default;

  // The functions are those of Tuner, with the same contracts. Answers are read, not checked: a
  // point has a value for each parameter, but it may be infeasible; ids and counts may be wrong.
  virtual Result<void> set_space(const Space& space) = 0;
  virtual Result<std::vector<Answer>> ask(std::span<const TrialId> ids) = 0;
  virtual Result<void> withdraw(TrialId id) = 0;
  virtual Result<void> tell(std::span<const Outcome> outcomes) = 0;
  virtual Result<void> adopt(TrialId id, const Point& point) = 0;
  virtual Result<std::vector<Decision>> on_report(const Report& report) = 0;
  virtual Result<void> skip_ahead() = 0;
  // Only if the description says that the plug-in saves.
  virtual Result<json> save() = 0;
  virtual Result<void> load(const json& state) = 0;

  // Begins anew after an error, as if the tuner had just been made: set_space() comes next. An
  // error: this kind of plug-in cannot.
  virtual Result<void> restart() = 0;
};

class PluginAssessor {
 public:
  virtual ~PluginAssessor() = default;

  // The functions are those of Assessor, with the same contracts.
  virtual Result<Decision> assess(TrialId trial, std::span<const Report> reports) = 0;
  virtual Result<void> trial_end(TrialId trial, End end) = 0;
  virtual Result<json> save() = 0;
  virtual Result<void> load(const json& state) = 0;

  virtual Result<void> restart() = 0;
};

// A loaded plug-in: a file, or a command. Several algorithms may come from one.
class Plugin {
 public:
  virtual ~Plugin() = default;

  virtual const std::string& name() const = 0;  // for messages: the file, or the command
  virtual const std::vector<PluginDescription>& algorithms() const = 0;
  virtual Result<std::unique_ptr<PluginTuner>> make_tuner(const PluginDescription& which,
                                                          PluginSetup setup) = 0;
  virtual Result<std::unique_ptr<PluginAssessor>> make_assessor(const PluginDescription& which,
                                                                PluginSetup setup) = 0;
};

}  // namespace attune
