#include "manager/app/run_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <utility>

#include "base/terminal_text.h"
#include "manager/app/earlier_experiments.h"
#include "manager/app/experiment_session.h"
#include "manager/app/trial_backends.h"
#include "manager/cli/commands/best_text.h"
#include "manager/cli/commands/failure_causes.h"
#include "manager/cli/commands/stored_json.h"
#include "manager/decider/daemon_program.h"
#include "manager/experiment/experiment_file.h"
#include "manager/experiment/import_rules.h"
#include "manager/experiment/preparation.h"
#include "manager/interchange/import_file.h"
#include "manager/store/experiment_lock.h"
#include "manager/store/schema.h"
#include "os/standard_output.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

constexpr auto kAlways = [] { return true; };

std::string experiment_id_of(std::uint64_t bits) {
  constexpr std::string_view kLetters = "abcdefghijkmnpqrstuvwxyz23456789";
  std::string id;
  for (; id.size() < 8; bits >>= 5) id += kLetters[bits & 31];
  return id;
}

// The JSON that `attune status --json` would print now, with the session of `summary`. If the store
// cannot be read: `summary`.
json stored_summary(const json& summary) {
  auto reader = StoreReader::open(summary["directory"].get<std::string>());
  if (!reader) return summary;
  const auto experiment = reader->find(summary["experiment_id"].get<std::string>());
  if (!experiment) return summary;
  auto stored = status_json(*reader, *experiment, SystemClock().wall());
  if (!stored) return summary;
  (*stored)["session"] = summary["session"];
  return *std::move(stored);
}

// A text about why trials failed. Empty if none did, or the store cannot be read.
std::string causes_of(const SessionResult& result) {
  if (!result.stored) return "";
  auto reader = StoreReader::open(result.summary["directory"].get<std::string>());
  if (!reader) return "";
  const auto experiment = reader->find(result.summary["experiment_id"].get<std::string>());
  if (!experiment) return "";
  const auto causes = failure_causes(*reader, *experiment);
  return causes ? failure_causes_text(*causes, *experiment) : "";
}

}  // namespace

Result<SessionSetup> find_programs(const Surroundings& surroundings, const std::string& daemon) {
  SessionSetup setup;
  setup.environment = surroundings.environment;
  setup.program = std::filesystem::path(surroundings.program_folder) / "attune";
  setup.entropy = surroundings.entropy;
  setup.daemon = TRY(find_daemon(daemon, surroundings.program_folder, surroundings.path()));
  setup.shim = TRY(find_program("attune-shim", surroundings.program_folder, surroundings.path()));
  setup.shown.terminal = surroundings.terminal;
  setup.shown.ansi = surroundings.ansi;
  return setup;
}

std::string heading(const RunFacts& facts, std::string_view verb) {
  std::string sought;
  for (const Objective& each : facts.objectives) sought += ", " + sought_text(each);
  return fmt::format("{} experiment {} in {} (seed {}{})", verb, facts.experiment_id,
                     facts.directory, facts.seed, sought);
}

void keep_lock(ExperimentLock& lock, const RunFacts& facts, Store& store) {
  store.keep_folder([&lock, directory = facts.directory] { return lock.renew(directory); });
}

std::string Surroundings::path() const {
  for (const std::string& variable : environment) {
    if (variable.starts_with("PATH=")) return variable.substr(5);
  }
  return "";
}

int print_result(const SessionResult& result, bool as_json) {
  if (as_json) {
    std::puts(dump_json(result.stored ? stored_summary(result.summary) : result.summary).c_str());
  } else if (result.exit_code != kExitUsage) {  // with kExitUsage no trial has run
    std::fputs(terminal_text(result.text + causes_of(result)).c_str(), stdout);
  }
  std::fflush(stdout);
  if (result.outcome.kind != ExperimentEnd::Kind::completed)
    put_text(stderr, fmt::format("attune: {}\n", terminal_text(result.outcome.reason)));
  return result.exit_code;
}

Result<std::vector<ImportData::Record>> read_imports(const std::string& file,
                                                     const Experiment& experiment, bool dry_run,
                                                     std::vector<std::string>& messages) {
  FitRecords fit = fit_records(experiment.space, TRY(read_import_file(file)));
  messages.push_back(import_text(std::ssize(fit.good), static_cast<std::int64_t>(fit.left_out),
                                 fit.why, dry_run ? "could be imported" : "imported"));
  return std::move(fit.good);
}

Result<NewExperimentSetup> prepare_new(Experiment experiment, const std::string& directory,
                                       std::optional<std::uint64_t> seed, const std::string& daemon,
                                       bool quiet, const Surroundings& surroundings) {
  TRY(check_backend(experiment, surroundings.environment));
  NewExperimentSetup setup{TRY(find_programs(surroundings, daemon)), {}};
  RunFacts& facts = setup.session.facts;
  facts.experiment_id = experiment_id_of(surroundings.entropy);
  const bool own = !directory.empty();
  const fs::path folder = own ? fs::absolute(directory).lexically_normal()
                              : experiment.working_directory / facts.experiment_id;
  setup.working_directory = own ? folder : experiment.working_directory;
  facts.directory = folder.string();
  facts.seed = settle_seed(seed, surroundings.entropy >> 32, experiment);
  const Direction direction =
      TRY(settle_direction(experiment, setup.session.daemon, surroundings.environment));
  TRY(check_with_daemon(experiment, setup.session.daemon, surroundings.environment));
  EarlierResults earlier = read_earlier_results(experiment, facts.experiment_id);
  if (!earlier.problems.empty()) return fail(earlier.problems.front());
  // As folders, so that a resumed experiment finds the same ones.
  experiment.learn_from = std::move(earlier.folders);
  setup.session.earlier = std::move(earlier.for_daemon);
  if (!experiment.objectives.empty()) facts.objectives = experiment.objectives;
  facts.objectives.front() = direction.objective;
  setup.session.shown.quiet = quiet;
  std::vector<std::string>& warnings = setup.session.warnings;
  if (!direction.warning.empty()) warnings.push_back(direction.warning);
  std::ranges::copy(experiment.warnings, std::back_inserter(warnings));
  if (!quiet) setup.session.messages.push_back(heading(facts, "new"));
  if (!quiet) std::ranges::move(earlier.messages, std::back_inserter(setup.session.messages));
  setup.session.experiment = std::move(experiment);
  return setup;
}

BusyWait wait_for_store(const fs::path& folder, std::function<bool()> goes_on) {
  constexpr double kSilent = 2;  // seconds; a shorter wait needs no message
  const auto wait_on = [said = std::make_shared<bool>(false), file = (folder / kStoreFile).string(),
                        goes_on = std::move(goes_on)] {
    if (!std::exchange(*said, true))
      put_text(stderr, fmt::format("attune: waits for another process that holds {}; see who with "
                                   "fuser, ^C ends this\n",
                                   terminal_text(file)));
    return goes_on();
  };
  return {kSilent, wait_on};
}

Result<ClaimedExperiment> claim(const NewExperimentSetup& setup, const Clock& clock,
                                BusyWait busy) {
  const RunFacts& facts = setup.session.facts;
  // Simulations are not resumed.
  if (setup.session.experiment.backend != "simulated")
    TRY(check_resumable(setup.session.experiment));
  TRY(claim_directory(facts.directory));
  ExperimentLock lock = TRY(ExperimentLock::take(facts.directory));
  Store store = TRY(Store::open(setup.working_directory, std::move(busy)));
  ClaimedExperiment claimed{std::move(lock), std::move(store)};
  TRY(claimed.store.begin({facts.experiment_id, setup.session.experiment.name, facts.directory,
                           facts.objective().metric, facts.objective().maximize, facts.seed,
                           to_document(setup.session.experiment), setup.session.restored.ended},
                          clock.wall()));
  return claimed;
}

Result<int> run_experiment(const RunOptions& options, const Surroundings& surroundings) {
  Experiment experiment =
      TRY(read_experiment_file(options.file, fs::current_path() / "attune-experiments"));
  if (experiment.backend == "simulated")
    return fail("backend: simulated is for `attune simulate " + options.file + "`");
  if (options.max_trials) experiment.max_trial_number = options.max_trials;
  if (options.concurrency) experiment.trial_concurrency = *options.concurrency;
  NewExperimentSetup setup = TRY(prepare_new(std::move(experiment), options.directory, options.seed,
                                             options.daemon, options.quiet, surroundings));
  setup.session.dashboard = options.dashboard;
  if (!options.import_file.empty()) {
    setup.session.restored.ended = TRY(read_imports(options.import_file, setup.session.experiment,
                                                    options.dry_run, setup.session.messages));
  }
  if (options.dry_run) {
    for (const std::string& warning : setup.session.warnings)
      put_text(stderr, fmt::format("attune: warning: {}\n", terminal_text(warning)));
    if (!options.import_file.empty())
      put_text(stderr, terminal_text(setup.session.messages.back()) + "\n");
    put_text(
        stdout,
        to_document(setup.session.experiment).dump(2, ' ', false, json::error_handler_t::replace) +
            "\n");
    return kExitOk;
  }
  // Until the session begins a signal ends this program at once.
  ClaimedExperiment claimed =
      TRY(claim(setup, SystemClock(), wait_for_store(setup.working_directory, kAlways)));
  keep_lock(claimed.lock, setup.session.facts, claimed.store);
  return print_result(TRY(run_session(std::move(setup.session), claimed.store)), options.json);
}

}  // namespace attune
