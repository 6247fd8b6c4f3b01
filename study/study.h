#pragma once
// Embedded tuning: a program tunes a function of its own, without a daemon or another process.
//
//   auto best = attune::minimize([](const attune::json& p) { return cost(p.at("x")); },
//                                attune::SpaceBuilder().uniform("x", -5, 5).build(), 100);
//
// at() and not []: a name that the space does not have is then an exception, which fails the trial
// and says so; with [] of a const json it is undefined.
//
// Errors are values (base/result.h) and change nothing, except that a study whose file could not be
// written to refuses everything from then on. The same seed and the same calls give the same
// answers, also after a restart. Any thread may call; calls take turns. docs/study.md.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "study/study_options.h"
#include "study/study_trial.h"
#include "trial/trial_function.h"

namespace attune {

class StudyFile;

struct OptimizeOptions {
  // The number of trials in all, those from before a restart included, so that a continued run ends
  // where an uninterrupted one does.
  std::int64_t trials = 100;
  // With 1 the function runs in the calling thread. With more it is called by as many threads at
  // the same time, and must not wait for another of its own calls unless any_order is set.
  int threads = 1;
  // Reports and ends count as they come, not in turns. Faster if trials take very different times,
  // but the run cannot be repeated.
  bool any_order = false;
  std::optional<std::int64_t> max_failures = {};  // no new trial once so many of the study failed
  std::optional<double> seconds = {};             // no new trial after this time
  // Told of every trial that ends, in the order in which ends count; false: no new trial. It may
  // call the study, but not optimize() again.
  std::function<bool(const StudyTrial&)> on_end = {};
};

class Study {
 public:
  // space: NNI's types (docs/search-space.md), as parse_json() or SpaceBuilder make it. An empty
  // object: trials say what they need while they run, see suggest().
  static Result<Study> create(const json& space, const StudyOptions& options = {});

  // Continues the study in the file, and writes to it. Trials that were asked for and not told are
  // in running(); optimize() runs them again.
  static Result<Study> open(const std::string& file, Durability durability = Durability::never);

  // Writes all that happened so far to a file, as a whole or not at all. An error: a study is open
  // that writes to this file, this one or another. load() continues from such a file without
  // writing to it; open() writes.
  Result<void> save(const std::string& path) const;
  static Result<Study> load(const std::string& path);

  Study(Study&&) noexcept;
  Study& operator=(Study&&) noexcept;
  ~Study();

  // Fewer than `count` if the tuner waits for results, or has no more. count: 1 to 10,000.
  Result<Asked> ask(int count = 1);

  // The final result of a running trial: a number, or an object with the first objective. A value
  // that is not finite makes it diverged. The batch is told whole or not at all.
  Result<void> tell(TrialId id, const json& value);
  Result<void> tell(const std::vector<std::pair<TrialId, json>>& results);
  Result<void> fail(TrialId id, const std::string& reason = "");
  Result<void> stop(TrialId id);  // its last report is its result

  // An intermediate result, as tell() takes it. `step` is the next one, or, when the trial is run
  // again, an earlier one: the same value changes nothing then, another one replaces it. Once told
  // to stop, a trial is to be ended by stop(), or by tell() if it has a result after all.
  Result<Verdict> report(TrialId id, const json& value,
                         std::optional<std::int64_t> step = std::nullopt);

  // The next trial gets these parameters; several wait in their order. All parameters must be
  // there, and break no constraint. Without a search space some may be missing.
  Result<void> enqueue(const json& parameters);
  // Results from elsewhere, {parameters, value}: the tuner learns from them, they are no trials.
  Result<void> import_results(const std::vector<std::pair<json, json>>& results);

  // ---- without a search space

  // The value of a parameter for a running trial, which may be new to the study. `declared` is what
  // stands behind the name in a search space. Asked again for the same name, a trial gets the same
  // value. Its parameters are those that it has asked for; one that it does not ask for counts for
  // the tuner with the value that it would have got. A numeric range may differ from trial to
  // trial: the tuner searches all of them together, and the nearest value in the range is given.
  // Types, steps and candidates may not differ.
  // Such a study does not end because all points were tried: others may be declared yet.
  Result<json> suggest(TrialId id, const std::string& name, const json& declared);
  // As suggest(), but the trial tries `value`, whatever was proposed. Errors: it is no value of
  // `declared`; the trial has the parameter already, with another value.
  Result<void> give(TrialId id, const std::string& name, const json& declared, const json& value);
  // Adds parameters before a trial asks for them, or for import_results(); as suggest() does.
  Result<void> declare(const json& space);

  // Runs trials until there are enough of them. An exception of the function fails its trial.
  // Returns why it ended. One optimize() of a study at a time.
  Result<std::string> optimize(const TrialFunction& function, const OptimizeOptions& options);

  // Looks at the completed trials that have all metrics of the objectives. Among those that keep
  // the limits, returns the best in the first objective, the earlier of equal ones. If none keeps
  // them, returns the one that breaks them least, and keeps_limits() is false.
  std::optional<StudyTrial> best() const;
  bool keeps_limits() const;  // there is a best trial, and it breaks no limit
  // The trials that keep the limits and that no other dominates (is nowhere worse and somewhere
  // better), ordered by the first objective: best() comes first. With one objective it is alone.
  std::vector<StudyTrial> trade_offs() const;
  std::optional<StudyTrial> trial(TrialId id) const;
  std::vector<StudyTrial> trials() const;   // by id
  std::vector<Suggestion> running() const;  // by id
  // Which share of the variance of a metric each parameter explains alone, the largest first
  // (functional ANOVA, by a random forest of the completed trials). The shares add up to 1; if all
  // results are equal, or all parameters, each is 0. `metric`: of an objective; "": the first one.
  // Names are paths: "model[1].depth" is that in the second option of a nested choice. A parameter
  // that is not in all trials is judged by those that have it, and counts by their share. The same
  // trials give the same answer. Errors: no such objective; fewer than 2 completed trials with a
  // finite value of it.
  Result<std::vector<std::pair<std::string, double>>> importance(
      const std::string& metric = "") const;
  std::int64_t trial_count() const;
  std::int64_t count(TrialState state) const;
  // What a user should know of the file: a torn line was dropped, another version wrote it.
  std::vector<std::string> warnings() const;

 private:
  friend class Optimizer;
  struct Impl;
  explicit Study(std::unique_ptr<Impl> impl);
  static Result<Study> go_on(const std::string& path, std::unique_ptr<StudyFile> file,
                             const std::string& bytes);
  std::unique_ptr<Impl> impl_;
};

// Makes a new study and runs it, `trials` in all. Returns the best() trial, or an error if there is
// none, or it breaks a limit. The name of the function is the direction, also of the first
// objective; minimize() refuses options that say maximize.
Result<StudyTrial> minimize(const TrialFunction& function, const json& space, std::int64_t trials,
                            StudyOptions options = {}, OptimizeOptions how = {});
Result<StudyTrial> maximize(const TrialFunction& function, const json& space, std::int64_t trials,
                            StudyOptions options = {}, OptimizeOptions how = {});

}  // namespace attune
