// The command attune resume.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/terminal_text.h"
#include "manager/app/earlier_experiments.h"
#include "manager/app/restore.h"
#include "manager/app/run_command.h"
#include "manager/app/trial_backends.h"
#include "manager/cli/commands/console.h"
#include "manager/cli/commands/shell_words.h"
#include "manager/cli/commands/stored_json.h"
#include "manager/control/json_format.h"
#include "manager/experiment/experiment_file.h"
#include "manager/experiment/experiment_space.h"
#include "manager/store/schema.h"
#include "manager/store/store_reader.h"
#include "os/standard_output.h"
#include "protocol/codec.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// Refuses to resume from a copy of the store: the experiment would run on in the folder of the
// original, whose path is in the copy.
Result<void> check_place(const StoredExperiment& stored, const fs::path& store) {
  const std::string directory = stored.directory.string();
  std::error_code error;
  if (!stored.directory.is_absolute())
    return fail(fmt::format("the folder of experiment {} is {}, which is no absolute path",
                            stored.id, directory));
  if (!fs::is_directory(stored.directory, error))
    return fail(fmt::format("the folder of experiment {}, {}, is gone; move it back there",
                            stored.id, directory));
  const fs::path known = stored.directory / kStoreFile;
  if (fs::exists(known, error) && !fs::equivalent(known, store, error))
    return fail(
        fmt::format("{} is a copy: experiment {} lives in {}. To go on with that: attune "
                    "resume --dir {}; with the copy: move the original away, and the copy "
                    "there",
                    store.string(), stored.id, directory, directory));
  return {};
}

// If the experiment has ended, and nothing is left to do: the result to print, which says why.
// Nothing: there is work for a session. An experiment that was killed always needs one, which at
// least writes its end into the store.
std::optional<SessionResult> nothing_left(const StoredExperiment& stored,
                                          const Experiment& experiment, const SessionSetup& setup) {
  const RestoredExperiment& restored = setup.restored;
  const bool ended = stored.status == ExperimentStatus::completed ||
                     (stored.status == ExperimentStatus::failed && restored.scored == 0);
  const bool waits = !restored.live.empty() || !setup.again.empty() ||
                     setup.initial_points_done < experiment.initial_points.size();
  if (!ended || waits) return std::nullopt;
  const std::string words = experiment_words(stored.directory, stored.id, true);
  std::string why, options, cure;
  const auto add = [&why](const std::string& reason) { why += (why.empty() ? "" : ", ") + reason; };
  const std::int64_t trials = restored.tally.added();
  if (experiment.max_trial_number && trials >= *experiment.max_trial_number) {
    add(fmt::format("maxTrialNumber {} is reached", *experiment.max_trial_number));
    options += fmt::format(" --max-trials {}", 2 * trials);
  }
  if (experiment.max_experiment_seconds && restored.seconds >= *experiment.max_experiment_seconds) {
    add(fmt::format("maxExperimentDuration {} s is over", *experiment.max_experiment_seconds));
    options += fmt::format(" --duration {}", std::ceil(2 * restored.seconds));
  }
  if (const auto met = experiment.stop.met(restored.status)) {
    add("stop: " + *met);
    cure = fmt::format(
        "the criteria of `stop` hold for good; to try others in a new experiment: attune config "
        "{} > again.yaml\n",
        words);
  } else if (options.empty() && restored.state && restored.state->exhausted) {
    add("the tuner has no more configurations");
    cure = fmt::format("in another search space it goes on: attune resume {} --search-space FILE\n",
                       words);
  }
  if (why.empty()) return std::nullopt;
  if (cure.empty()) cure = fmt::format("to go on: attune resume {}{}\n", words, options);
  SessionResult result;
  result.outcome = {ExperimentEnd::Kind::completed, "nothing was left to do: " + why};
  result.text = fmt::format("experiment {}: {}\n{}", stored.id, result.outcome.reason, cure);
  result.summary = with_format({{"experiment_id", stored.id},
                                {"directory", stored.directory.string()},
                                {"session",
                                 {{"status", to_text(ExperimentStatus::completed)},
                                  {"reason", result.outcome.reason},
                                  {"seconds", 0},
                                  {"trials", tally_json({})}}}});
  return result;
}

// Prepares everything to tell the tuner of a new search space and of imports: as commands in the
// outbox for a daemon that continues exactly, and in `setup` (results, experiment) for one that
// begins anew.
Resumption tell(SessionSetup& setup, const Experiment& experiment, bool new_space,
                std::vector<ImportData::Record> imports) {
  Resumption resumption{.file = to_document(experiment), .imports = std::move(imports)};
  if (!new_space && resumption.imports.empty()) return resumption;
  auto& ended = setup.restored.ended;
  ended.insert(ended.end(), resumption.imports.begin(), resumption.imports.end());
  if (!setup.left || !setup.restored.state) return resumption;
  // With a new space or new results, an exhausted tuner may have more configurations.
  setup.restored.state->exhausted = false;
  setup.restored.state->declined = 0;
  resumption.state = *setup.restored.state;
  std::vector<Frame> commands = import_commands(resumption.imports);
  if (new_space)
    commands.insert(commands.begin(), encode(UpdateSearchSpace{experiment.search_space}));
  for (Frame& command : commands)
    resumption.commands.emplace_back(++setup.left->counts.commands, std::move(command));
  setup.left->commands.insert(setup.left->commands.end(), resumption.commands.begin(),
                              resumption.commands.end());
  resumption.counts = setup.left->counts;
  return resumption;
}

}  // namespace

// One long function, because each object refers to those that were made before it.
// NOLINTNEXTLINE(readability-function-size)
Result<int> resume_experiment(const ResumeOptions& options, const Surroundings& surroundings) {
  TRY(bring_up_to_date(options.which.directory,
                       wait_for_store(options.which.directory, [] { return true; })));
  StoreReader reader = TRY(StoreReader::open(options.which.directory));
  const StoredExperiment stored = TRY(reader.find(options.which.experiment));
  Experiment experiment = TRY(read_stored_experiment(stored.file, stored.directory));
  if (experiment.backend == "simulated")
    return fail(
        fmt::format("experiment {} is a simulation, which cannot be resumed: run it again, "
                    "attune simulate",
                    stored.id));
  if (options.max_trials) experiment.max_trial_number = options.max_trials;
  if (options.concurrency) experiment.trial_concurrency = *options.concurrency;
  if (options.max_seconds) experiment.max_experiment_seconds = options.max_seconds;
  SessionSetup setup = TRY(find_programs(surroundings, options.daemon));
  bool new_space = false;
  if (!options.search_space.empty()) {
    json wanted = TRY(read_search_space_file(options.search_space));
    new_space = wanted != experiment.search_space;
    experiment.search_space = std::move(wanted);
  }
  experiment.space = TRY(check_resumable(experiment));
  TRY(check_backend(experiment, surroundings.environment));
  TRY(check_place(stored, reader.working_directory() / kStoreFile));
  setup.facts = {stored.id, stored.directory.string(), stored.objectives, stored.seed};
  setup.shown.quiet = options.quiet;
  setup.dashboard = options.dashboard;
  setup.resume = true;

  ExperimentLock lock = TRY(ExperimentLock::take(stored.directory));
  for (const auto& [name, how] : options.retries) {
    const auto failure = parse_failure_class(name);
    const auto parsed = parse_retry_how(how);
    if (!failure || !parsed) return fail(fmt::format("--retry {}={}: not understood", name, how));
    for (Again& again : TRY(to_try_again(reader, stored, *failure, *parsed)))
      setup.again.push_back(std::move(again));
    RetryRule& rule = experiment.trial.retries[*failure];
    rule = {*parsed, std::max(rule.limit, 1)};
  }
  std::optional<RunnerState> state;
  if (auto conversation = TRY(reader.conversation(stored))) {
    setup.left = std::move(conversation->outbox);
    state = std::move(conversation->manager);
  }
  // The daemon remembers what it learnt from. Only one that cannot go on needs it again.
  EarlierResults earlier = read_earlier_results(experiment, stored.id);
  setup.earlier = std::move(earlier.for_daemon);
  for (const std::string& problem : earlier.problems) {
    setup.warnings.push_back(problem +
                             "; nothing is lost, unless the daemon cannot go on with its journal");
  }
  setup.restored = TRY(restored_state(reader, stored, experiment, std::move(state)));
  setup.succeeded = TRY(reader.best(stored));
  TRY(reader.trials(stored, {}, [&](const TrialRecord& trial) {
    setup.initial_points_done += trial.source == TrialSource::initial ? 1 : 0;
    return true;
  }));
  if (!options.quiet) {
    setup.messages.push_back(heading(setup.facts, "resuming"));
    setup.messages.push_back(fmt::format("{} trials have ended, {} have not",
                                         setup.restored.tally.finished(),
                                         setup.restored.live.size()));
  }
  std::vector<ImportData::Record> imports;
  if (!options.import_file.empty())
    imports = TRY(read_imports(options.import_file, experiment, options.dry_run, setup.messages));
  const bool news = new_space || !imports.empty();
  if (const auto nothing = news ? std::nullopt : nothing_left(stored, experiment, setup))
    return print_result(*nothing, options.which.json);
  if (options.dry_run) {
    for (const std::string& message : setup.messages)
      put_text(stdout, terminal_text(message) + "\n");
    return kExitOk;
  }
  Store store = TRY(Store::open(reader.working_directory(),
                                wait_for_store(reader.working_directory(), [] { return true; })));
  const Resumption resumption = tell(setup, experiment, new_space, std::move(imports));
  const SystemClock clock;
  TRY(store.resume(stored.id, clock.wall(), resumption));
  setup.experiment = std::move(experiment);
  keep_lock(lock, setup.facts, store);
  return print_result(TRY(run_session(std::move(setup), store)), options.which.json);
}

}  // namespace attune
