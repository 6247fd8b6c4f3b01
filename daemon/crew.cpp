#include "daemon/crew.h"

#include <algorithm>

#include "base/objective_json.h"
#include "daemon/version.h"
#include "dispatcher/journal_frames.h"
#include "dispatcher/repeating_tuner.h"
#include "plugins/open/open.h"

namespace attune {
namespace {

json to_json(const Capabilities& can) {
  return {{"sync", can.sync},
          {"pause", can.pause},
          {"checkpoint", can.checkpoint},
          {"reason", can.reason},
          {"error", can.error}};
}

// The argument of NNI's PBT that NNI's dispatcher takes from the manager if it is not given.
constexpr const char* kTrialCheckpoints = "all_checkpoint_dir";

// Whether the tuner has that argument, and the user has left it to the daemon.
bool wants_trial_checkpoints(const Configuration& configuration, const TunerRegistry& tuners) {
  const json& given = configuration.tuner.arguments;
  const auto entry = tuners.find(configuration.tuner.name, "tuner");
  const bool is_free =
      given.is_null() || (given.is_object() && given.value(kTrialCheckpoints, json()).is_null());
  const auto is_it = [](const Argument& each) { return each.name == kTrialCheckpoints; };
  return entry && is_free && !configuration.trial_checkpoints.empty() &&
         std::ranges::any_of((*entry)->arguments, is_it);
}

json tuner_arguments(const Configuration& configuration, const TunerRegistry& tuners) {
  json arguments = configuration.tuner.arguments;
  if (wants_trial_checkpoints(configuration, tuners))
    arguments[kTrialCheckpoints] = configuration.trial_checkpoints;
  return arguments;
}

json make_header(const Configuration& configuration, const MadeTuner& made, bool has_assessor,
                 bool has_trial_checkpoints, WhenExhausted when_exhausted) {
  json header = {{"format", kJournalFormat},
                 {"attuned", std::string(kVersion)},
                 {"tuner",
                  {{"name", made.name},
                   {"optimize_mode", made.maximize ? "maximize" : "minimize"},
                   {"arguments", configuration.tuner.arguments}}},
                 {"assessor", nullptr},
                 {"seed", made.seed},
                 {"max_trials", nullptr},
                 {"concurrency", nullptr},
                 {"objectives", to_json(configuration.context.objectives)},
                 {"constraints", configuration.constraints},
                 {"capabilities", to_json(configuration.capabilities)},
                 {"when_exhausted", std::string(name_of(when_exhausted))},
                 {"include_intermediate_results", configuration.include_intermediate},
                 {"limits", to_json(configuration.limits)},
                 {"ask_at_once", configuration.ask_at_once},
                 {"search_space", nullptr}};
  if (has_assessor) {
    header["assessor"] = {{"name", configuration.assessor->name},
                          {"arguments", configuration.assessor->arguments}};
    // Earlier headers have no such member: they mean `ignore`.
    if (configuration.stopped_trials != StoppedTrials::ignore) {
      header["assessor"]["stopped_trials"] = name_of(configuration.stopped_trials);
    }
  }
  const Context& context = configuration.context;
  if (context.max_trials) header["max_trials"] = *context.max_trials;
  if (context.concurrency) header["concurrency"] = *context.concurrency;
  // Earlier headers have no such members, and must stay equal without them.
  if (context.fidelity) {
    header["fidelity"] = {{"metric", context.fidelity->metric}, {"max", context.fidelity->max}};
  }
  if (context.pauses) header["pauses"] = true;
  if (has_trial_checkpoints) header["trial_checkpoints"] = configuration.trial_checkpoints;
  if (configuration.revision > 0) header["revision"] = configuration.revision;
  return header;
}

// What the tuner is to assume of trials that the assessor stops. One that hears all reports judges
// by these: a value at an unknown level would count as one at the highest.
StoppedRule stopped_rule(const Configuration& configuration, const MadeTuner& made,
                         const Objective& first, const Log& log) {
  StoppedRule rule{configuration.stopped_trials, configuration.context.objectives,
                   configuration.context.fidelity};
  if (rule.objectives.empty()) rule.objectives.push_back(first);
  if (made.wants_reports && rule.assume != StoppedTrials::ignore) {
    log.warning("assessor.stoppedTrials has no effect: {} learns from all reports", made.name);
    rule.assume = StoppedTrials::ignore;
  }
  return rule;
}

}  // namespace

Result<void> add_plugins(const Configuration& configuration, Algorithms& algorithms,
                         const Log& log) {
  for (const json& spec : configuration.plugins) {
    auto plugin = TRY(open_plugin(spec, log));
    TRY(add_plugin(std::move(plugin), algorithms.tuners, algorithms.assessors, log));
  }
  for (const UserClass& user_class : configuration.classes) {
    auto host = open_plugin(host_of(user_class), log);
    if (!host) return fail(user_class.key + ": " + host.error().message);
    TRY(add_plugin(*std::move(host), algorithms.tuners, algorithms.assessors, log));
  }
  return {};
}

Result<Crew> make_crew(const Configuration& configuration, const Algorithms& algorithms,
                       const Clock& clock, const Log& log) {
  MadeTuner made = TRY(make_tuner(algorithms.tuners, configuration.tuner.name,
                                  tuner_arguments(configuration, algorithms.tuners),
                                  configuration.context, configuration.fallback_seed));
  std::unique_ptr<Assessor> assessor;
  if (configuration.assessor) {
    assessor =
        TRY(make_assessor(algorithms.assessors, configuration.assessor->name,
                          configuration.assessor->arguments, configuration.context, made.seed));
  }
  const DispatcherOptions options{.capabilities = configuration.capabilities,
                                  .wants_reports = made.wants_reports,
                                  .has_assessor = assessor != nullptr,
                                  .include_intermediate = configuration.include_intermediate,
                                  .revision = configuration.revision,
                                  .limits = configuration.limits};
  const auto& objectives = configuration.context.objectives;
  const std::string metric = objectives.empty() ? "default" : objectives[0].metric;
  const WhenExhausted when_exhausted = configuration.when_exhausted.value_or(
      default_when_exhausted(configuration.nni_manager, made.name, configuration.tuner.arguments));
  json header =
      make_header(configuration, made, assessor != nullptr,
                  wants_trial_checkpoints(configuration, algorithms.tuners), when_exhausted);
  if (when_exhausted == WhenExhausted::repeat) {
    made.tuner = make_repeating(std::move(made.tuner));
    log.info("{} repeats its best points once it has proposed all (--when-exhausted)", made.name);
  }
  const Objective first{metric, made.maximize};
  const StoppedRule stopped = stopped_rule(configuration, made, first, log);
  Session session(std::move(made.tuner), first, log.named("tuner"),
                  configuration.capabilities.pause && configuration.capabilities.checkpoint,
                  stopped);
  Crew crew;
  crew.workers = std::make_unique<WorkerThreads>(
      TuneWorker(std::move(session), log.named("tuner"), configuration.constraints),
      AssessWorker(std::move(assessor), log.named("assessor"), metric, stopped),
      WorkerThreads::Limits{configuration.limits.queue, configuration.limits.queue,
                            configuration.ask_at_once},
      clock);
  crew.dispatcher = std::make_unique<Dispatcher>(options, *crew.workers, log);
  crew.header = std::move(header);
  return crew;
}

}  // namespace attune
