#include "runner/options.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace attune {

std::expected<RunOptions, CommandLineEnd> parse_command_line(int argc, const char* const* argv) {
  RunOptions options;
  CLI::App app("attune runs tuning experiments: attuned proposes, this machine tries.", "attune");
  app.set_version_flag("--version", "attune " ATTUNE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 a best configuration was found, 1 the experiment failed, 2 usage or\n"
      "experiment file (no trial was run), 130 interrupted.");
  CLI::App* run = app.add_subcommand("run", "Run an experiment to its end");
  run->add_option("file", options.file, "Experiment file, YAML or JSON")
      ->required()
      ->type_name("FILE");
  run->add_option("--seed", options.seed,
                  "Seed of the tuner; the same seed gives the same proposals");
  run->add_option("--dir", options.directory,
                  "Folder of this experiment (default: a new one in experimentWorkingDirectory)");
  run->add_option("--max-trials", options.max_trials, "Instead of the file's maxTrialNumber")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  run->add_option("--concurrency", options.concurrency, "Instead of the file's trialConcurrency")
      ->check(CLI::Range(1, 100'000));
  run->add_option("--daemon", options.daemon,
                  "The tuning daemon (default: attuned beside this program, else in PATH)");
  run->add_flag("--quiet", options.quiet, "No progress, only warnings and the result");
  run->add_flag("--json", options.json, "Print the result as one JSON object");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const int code = app.exit(error, out, err);
    return std::unexpected(CommandLineEnd{code == 0 ? 0 : 2, out.str() + err.str()});
  }
  return options;
}

}  // namespace attune
