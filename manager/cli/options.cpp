#include "manager/cli/options.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "base/man_page.h"
#include "manager/cli/commands/completion.h"
#include "manager/cli/option_words.h"
#include "manager/cli/options_parser.h"

namespace attune {
namespace {

constexpr const char* kStatuses =
    "pending|running|paused|succeeded|failed|early_stopped|user_canceled";

CLI::Range concurrencies() { return {1, 100'000}; }
void daemon_option(CLI::App* sub, std::string& daemon) {
  sub->add_option("--daemon", daemon,
                  "The tuning daemon (default: attuned beside this program, else in PATH)")
      ->type_name("FILE");
}

template <class Options>
void limit_options(CLI::App* sub, Options& options, const std::string& instead) {
  sub->add_option("--max-trials", options.max_trials, instead + "maxTrialNumber")
      ->check(trial_numbers())
      ->type_name("N");
  sub->add_option("--concurrency", options.concurrency, instead + "trialConcurrency")
      ->check(concurrencies())
      ->type_name("N");
}

void import_option(CLI::App* sub, std::string& file) {
  sub->add_option("--import", file,
                  "Results from elsewhere, told to the tuner before the next trial: a file as for "
                  "attune import")
      ->type_name("FILE");
}

template <class Options>
void duration_option(CLI::App* sub, Options& options, const std::string& instead) {
  sub->add_option("--duration", options.max_seconds,
                  instead + "maxExperimentDuration: seconds, or 90s, 10m, 1.5h, 1d")
      ->transform(duration())
      ->check([](const std::string& text) {
        double seconds = 0;
        const bool fine = CLI::detail::lexical_cast(text, seconds) && seconds > 0;
        return fine && std::isfinite(seconds) ? "" : "more than 0 expected: 90s";
      })
      ->type_name("DURATION");
}

constexpr const char* kRun = "Run";

// A flag, so that it does not take the file behind it for an address.
void dashboard_flag(CLI::App* command, std::string& place) {
  command->add_flag(fmt::format("--dashboard{{{}}}", kUsualPlace), place,
                    "Serve a page of the experiment while it runs; --dashboard=HOST:PORT listens "
                    "there");
}

void add_run(CLI::App& app, ParsedOptions& found) {
  CLI::App* run =
      command(app, found, kRun, "run", "Run an experiment to its end", &ParsedOptions::run,
              "  attune run experiment.yaml\n"
              "  attune run experiment.yaml --max-trials 10 --seed 7 --dry-run\n");
  run->add_option("file", found.run.file, "Experiment file, YAML or JSON")
      ->required()
      ->type_name("FILE");
  run->add_option("--seed", found.run.seed,
                  "Seed of the tuner; the same seed gives the same proposals")
      ->type_name("N")
      ->check(seeds());
  run->add_option("--dir", found.run.directory,
                  "Folder of this experiment (default: a new one in experimentWorkingDirectory)")
      ->type_name("DIR");
  import_option(run, found.run.import_file);
  limit_options(run, found.run, "Overrides the file's ");
  daemon_option(run, found.run.daemon);
  dashboard_flag(run, found.run.dashboard);
  run->add_flag("--quiet", found.run.quiet, "No progress, only warnings and the result");
  run->add_flag("--json", found.run.json, "Print the result as one JSON object");
  run->add_flag("--dry-run", found.run.dry_run, "Check the file, show what would run, run nothing");
}

void add_resume(CLI::App& app, ParsedOptions& found) {
  CLI::App* resume = command(
      app, found, kRun, "resume", "Go on with an experiment that was stopped or killed",
      &ParsedOptions::resume,
      "  attune resume\n"
      "  attune resume abcd2345 --max-trials 200 --retry failed=restart --retry lost=resume\n");
  choice_options(resume, found.resume.which, true);
  resume
      ->add_option(
          "--retry", found.retries,
          "What to do with trials that ended as CLASS (failed, signalled, out_of_memory, lost, "
          "stopped): skip, restart from scratch, or resume from the newest checkpoint")
      ->type_name("CLASS=POLICY");
  resume
      ->add_option("--search-space", found.resume.search_space,
                   "Go on in another search space: a JSON or YAML file")
      ->type_name("FILE");
  import_option(resume, found.resume.import_file);
  limit_options(resume, found.resume, "New ");
  duration_option(resume, found.resume, "New ");
  daemon_option(resume, found.resume.daemon);
  dashboard_flag(resume, found.resume.dashboard);
  resume->add_flag("--quiet", found.resume.quiet, "No progress, only warnings and the result");
  resume->add_flag("--dry-run", found.resume.dry_run, "Show what would run, run nothing");
}

void add_simulate(CLI::App& app, ParsedOptions& found) {
  CLI::App* simulate =
      command(app, found, kRun, "simulate",
              "Run an experiment in virtual time over learning curves", &ParsedOptions::simulate,
              "  attune simulate experiment.yaml --trials 1000 --epochs 81\n"
              "  attune simulate experiment.yaml --curves curves.json\n");
  simulate->add_option("file", found.simulate.file, "Experiment file, YAML or JSON")
      ->required()
      ->type_name("FILE");
  simulate
      ->add_option("--trials", found.simulate.max_trials, "Instead of the file's maxTrialNumber")
      ->check(trial_numbers())
      ->type_name("N");
  simulate->add_option("--epochs", found.simulate.epochs, "Number of reports in a generated curve")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  simulate
      ->add_option("--curves", found.simulate.curves, "Recorded curves instead of generated ones")
      ->type_name("FILE");
  simulate
      ->add_option("--concurrency", found.simulate.concurrency,
                   "Instead of the file's trialConcurrency")
      ->check(concurrencies())
      ->type_name("N");
  simulate->add_option("--seed", found.simulate.seed, "Seed of the tuner and of the curves")
      ->type_name("N")
      ->check(seeds());
  simulate
      ->add_option("--dir", found.simulate.directory, "Folder of this experiment, as in attune run")
      ->type_name("DIR");
  daemon_option(simulate, found.simulate.daemon);
  simulate->add_flag("--quiet", found.simulate.quiet, "No progress, only warnings and the result");
  simulate->add_flag("--json", found.simulate.json, "Print the result as one JSON object");
}

void add_controls(CLI::App& app, ParsedOptions& found) {
  const std::string group = "Change a running experiment";
  CLI::App* stop =
      command(app, found, group, "stop", "Stop an experiment and its trials", &ParsedOptions::stop,
              "  attune stop\n"
              "  attune stop abcd --kill\n");
  choice_options(stop, found.stop.which, true);
  stop->add_flag("--kill", found.stop.kill, "Kill the trials at once, without time to save");
  stop->add_flag("!--no-wait", found.stop.wait, "Do not wait until its trials have ended");

  CLI::App* kill = command(app, found, group, "kill", "Stop some trials; the experiment goes on",
                           &ParsedOptions::kill,
                           "  attune kill t0012 t0013\n"
                           "  attune kill 12 -e digits\n");
  kill->add_option("trials", found.kill.trials, "Job ids or numbers")
      ->required()
      ->type_name("TRIAL");
  choice_options(kill, found.kill.which, false);

  CLI::App* add = command(app, found, group, "add", "Add trials with parameters of your own",
                          &ParsedOptions::add,
                          "  attune add '{\"lr\": 0.1, \"layers\": 3}'\n"
                          "  attune add trial.json\n");
  add->add_option("parameters", found.add.parameters,
                  "A JSON object, or a file that holds one or an array of them")
      ->required()
      ->type_name("FILE");
  choice_options(add, found.add.which, false);

  CLI::App* import = command(app, found, group, "import", "Tell the tuner results from elsewhere",
                             &ParsedOptions::import,
                             "  attune import results.csv\n"
                             "  attune import trials.jsonl --dry-run\n");
  import
      ->add_option("file", found.import.file,
                   "CSV, JSON or JSON Lines of parameters and their score")
      ->required()
      ->type_name("FILE");
  choice_options(import, found.import.which, false);
  import->add_flag("--dry-run", found.import.dry_run, "Read and check the file, import nothing");

  CLI::App* update = command(app, found, group, "update",
                             "Change the limits of a running experiment", &ParsedOptions::update,
                             "  attune update --concurrency 8 --duration 2h\n"
                             "  attune update abcd --search-space wider.json\n");
  choice_options(update, found.update.which, true);
  update->add_option("--search-space", found.update.search_space, "A JSON or YAML file")
      ->type_name("FILE");
  limit_options(update, found.update, "New ");
  duration_option(update, found.update, "New ");
}

constexpr const char* kLook = "Look";

void add_views(CLI::App& app, ParsedOptions& found) {
  CLI::App* list = command(app, found, kLook, "list", "Show the experiments of a working directory",
                           &ParsedOptions::list,
                           "  attune list\n"
                           "  attune list --dir /data/tuning --json\n");
  directory_option(list, found.list.directory);
  list->add_flag("--json", found.list.json, "Print JSON");

  choice_options(command(app, found, kLook, "status",
                         "Show how an experiment goes: progress, what runs, what waits and why",
                         &ParsedOptions::status,
                         "  attune status\n"
                         "  attune status digits --json\n"),
                 found.status.which, true);

  CLI::App* trials =
      command(app, found, kLook, "trials", "Show the trials in a table", &ParsedOptions::trials,
              "  attune trials --status failed,running\n"
              "  attune trials --sort best --limit 10\n");
  choice_options(trials, found.trials.which, true);
  among(trials
            ->add_option("--status", found.statuses,
                         "Show only trials with one of these statuses, separated by commas")
            ->delimiter(','),
        kStatuses);
  among(trials->add_option("--sort", found.trials.sort, "Order of the rows (default: sequence)"),
        "sequence|newest|best");
  trials->add_option("--limit", found.trials.limit, "Show at most so many rows")
      ->check(trial_numbers())
      ->type_name("N");

  CLI::App* show = command(app, found, kLook, "show", "Show everything that is known about a trial",
                           &ParsedOptions::show,
                           "  attune show t0012\n"
                           "  attune show 12 --json\n");
  show->add_option("trial", found.show.trial, "Job id or number")->required()->type_name("TRIAL");
  choice_options(show, found.show.which, false);

  CLI::App* logs = command(app, found, kLook, "logs", "What a trial printed", &ParsedOptions::logs,
                           "  attune logs t0012\n"
                           "  attune logs 12 --stderr --follow\n");
  logs->add_option("trial", found.logs.trial, "Job id or number")->required()->type_name("TRIAL");
  choice_options(logs, found.logs.which, false);
  logs->add_flag("--stderr", found.logs.from_stderr, "Its standard error instead of its output");
  logs->add_flag("-f,--follow", found.logs.follow, "Go on until the trial ends");
}

// The command that was given, such as "attune pool cancel", for a hint at its help.
std::string given_command(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* sub : app.get_subcommands()) name += " " + given_command(*sub);
  return name;
}

// Converts options that CLI11 has read as words. Returns a usage error if they are wrong.
std::optional<CommandLineEnd> read_words(ParsedOptions& found) {
  if (auto* resume = std::get_if<ResumeOptions>(&*found.chosen)) {
    auto retries = read_retries(found.retries);
    if (!retries) return CommandLineEnd{kExitUsage, retries.error().message + "\n"};
    resume->retries = *std::move(retries);
  } else if (auto* coordinator = std::get_if<CoordinatorCommandOptions>(&*found.chosen)) {
    coordinator->durability = found.durability == "always"  ? Durability::always
                              : found.durability == "never" ? Durability::never
                                                            : Durability::each_second;
  } else if (auto* worker = std::get_if<WorkerCommandOptions>(&*found.chosen)) {
    auto amounts = read_amounts(found.amounts);
    if (!amounts) return CommandLineEnd{kExitUsage, amounts.error().message + "\n"};
    worker->custom = *std::move(amounts);
  } else if (auto* trials = std::get_if<TrialsOptions>(&*found.chosen)) {
    trials->statuses = read_statuses(found.statuses);
  } else if (auto* exported = std::get_if<ExportOptions>(&*found.chosen)) {
    const bool rows = exported->format == "csv" || exported->format == "jsonl";
    if (!rows && (exported->reports || exported->which.json))
      return CommandLineEnd{kExitUsage, fmt::format("attune export: --reports and --json are for "
                                                    "csv and jsonl, not for {}\n",
                                                    exported->format)};
    const bool folder = exported->format == "tensorboard" || exported->format == "mlflow";
    if (folder && exported->output.empty())
      return CommandLineEnd{kExitUsage, fmt::format("attune export: {} is a folder; name a new one "
                                                    "with -o\n",
                                                    exported->format)};
    if (exported->which.json) exported->format = "jsonl";
  } else if (auto* importance = std::get_if<ImportanceOptions>(&*found.chosen)) {
    if (importance->pairs && importance->method == "ped-anova")
      return CommandLineEnd{kExitUsage, "attune importance: --pairs needs --method fanova\n"};
    if (importance->method.empty()) importance->method = importance->pairs ? "fanova" : "ped-anova";
  } else if (const auto* update = std::get_if<UpdateOptions>(&*found.chosen)) {
    if (update->search_space.empty() && !update->concurrency && !update->max_seconds &&
        !update->max_trials)
      return CommandLineEnd{kExitUsage,
                            "attune update: nothing to change; see --search-space, --concurrency, "
                            "--duration and --max-trials\n"};
  }
  return std::nullopt;
}

}  // namespace

void directory_option(CLI::App* sub, std::string& directory) {
  sub->add_option(
         "--dir", directory,
         "Working directory, or the folder of one experiment (default: attune-experiments)")
      ->type_name("DIR");
}

void choice_options(CLI::App* sub, ExperimentChoice& which, bool positional) {
  sub->add_option(positional ? "experiment" : "-e,--experiment", which.experiment,
                  "Id, beginning of an id, or name (default: the newest)")
      ->type_name("EXPERIMENT");
  directory_option(sub, which.directory);
  sub->add_flag("--json", which.json, "Print JSON");
}

std::expected<CommandOptions, CommandLineEnd> parse_command_line(int argc,
                                                                 const char* const* argv) {
  ParsedOptions found;
  CLI::App app("attune runs tuning experiments: attuned proposes, this machine tries.", "attune");
  app.set_version_flag("--version", "attune " ATTUNE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 the experiment or the request failed, 2 usage or experiment file\n"
      "(nothing was done), 3 no manager runs, 130 interrupted. attune COMMAND --help says more.");
  add_run(app, found);
  add_resume(app, found);
  add_simulate(app, found);
  add_adopt(app, found);
  add_controls(app, found);
  add_views(app, found);
  add_results(app, found);
  add_experiments(app, found);
  add_pool(app, found);
  add_dashboard(app, found);
  add_mcp(app, found);
  CLI::App* completion = app.add_subcommand("completion", "Print a completion script");
  completion->group(kLook);
  completion->footer(
      "Examples:\n"
      "  source <(attune completion bash)\n"
      "  attune completion fish | source\n");
  among(completion->add_option("shell", found.shell, "Which shell")->required(), "bash|zsh|fish");

  // Hidden: the installation of this program calls it.
  app.add_subcommand("man", "Print the manual page")->group("");

  if (auto unknown = unknown_command(app, argc, argv)) return std::unexpected(std::move(*unknown));
  if (auto unknown = unknown_option(app, argc, argv)) return std::unexpected(std::move(*unknown));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    if (app.exit(error, out, err) == 0) return std::unexpected(CommandLineEnd{kExitOk, out.str()});
    const std::string name = given_command(app);
    return std::unexpected(
        CommandLineEnd{kExitUsage, fmt::format("{0}: {1}\n"
                                               "{0} --help shows what there is\n",
                                               name, error.what())});
  }
  if (!found.chosen) {
    const DescribedCommand all = describe_command(app);
    return std::unexpected(CommandLineEnd{
        kExitOk, app.got_subcommand("man") ? man_page(all, ATTUNE_VERSION, "attuned(1)")
                                           : completion_script(found.shell, all.commands)});
  }
  if (auto wrong = read_words(found)) return std::unexpected(*std::move(wrong));
  return *std::move(found.chosen);
}

}  // namespace attune
