// The command line: every sub-command, what is wrong with one, and completion scripts.
#include "manager/cli/options.h"

#include <fmt/format.h>
#include <stdio.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/temporary_folder.h"

namespace attune::options_test {

auto parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "attune");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

template <class Options>
Options parse_as(const std::vector<std::string>& arguments) {
  const auto parsed = parse(arguments);
  INFO((parsed ? "" : parsed.error().text));
  REQUIRE(parsed.has_value());
  REQUIRE(std::holds_alternative<Options>(*parsed));
  return std::get<Options>(*parsed);
}

std::string usage_error(const std::vector<std::string>& arguments) {
  const auto parsed = parse(arguments);
  REQUIRE_FALSE(parsed.has_value());
  CHECK(parsed.error().exit_code == kExitUsage);
  return parsed.error().text;
}

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("options: run, resume and simulate") {
  const auto run = parse_as<RunOptions>({"run", "e.yaml", "--seed", "9007199254740992",
                                         "--max-trials", "5", "--concurrency", "2", "--dir", "d",
                                         "--daemon", "a", "--quiet", "--json", "--dry-run"});
  CHECK(run.file == "e.yaml");
  CHECK(run.seed == 9007199254740992U);
  CHECK(run.max_trials == 5);
  CHECK(run.concurrency == 2);
  CHECK(run.directory == "d");
  CHECK(run.daemon == "a");
  CHECK((run.quiet && run.json && run.dry_run));

  const auto resume = parse_as<ResumeOptions>({"resume", "abcd", "--retry", "failed=restart",
                                               "--retry", "lost=resume", "--duration", "1.5h",
                                               "--max-trials", "9", "--dir", "w"});
  CHECK(resume.which.experiment == "abcd");
  CHECK(resume.which.directory == "w");
  CHECK(resume.retries ==
        std::map<std::string, std::string>{{"failed", "restart"}, {"lost", "resume"}});
  CHECK(resume.max_seconds == 5400);
  const auto wider =
      parse_as<ResumeOptions>({"resume", "--search-space", "s.yaml", "--import", "r.csv"});
  CHECK(wider.search_space == "s.yaml");
  CHECK(wider.import_file == "r.csv");
  CHECK(parse_as<RunOptions>({"run", "e.yaml", "--import", "r.csv"}).import_file == "r.csv");
  CHECK(resume.max_trials == 9);
  CHECK_FALSE(resume.concurrency.has_value());

  const auto simulate = parse_as<SimulateOptions>(
      {"simulate", "e.yaml", "--trials", "1000", "--epochs", "81", "--curves", "c.json"});
  CHECK(simulate.max_trials == 1000);
  CHECK(simulate.epochs == 81);
  CHECK(simulate.curves == "c.json");
}

TEST_CASE("options: what changes a running experiment") {
  CHECK(parse_as<StopOptions>({"stop", "--kill"}).kill);
  const auto kill = parse_as<KillOptions>({"kill", "t0001", "2", "-e", "digits"});
  CHECK(kill.trials == std::vector<std::string>{"t0001", "2"});
  CHECK(kill.which.experiment == "digits");
  CHECK(parse_as<AddOptions>({"add", R"({"lr": 0.1})"}).parameters == R"({"lr": 0.1})");
  CHECK(parse_as<ImportOptions>({"import", "r.csv", "--dry-run"}).dry_run);
  const auto update = parse_as<UpdateOptions>(
      {"update", "abcd", "--search-space", "s.json", "--concurrency", "8", "--duration", "90"});
  CHECK(update.which.experiment == "abcd");
  CHECK(update.search_space == "s.json");
  CHECK(update.concurrency == 8);
  CHECK(update.max_seconds == 90);
}

TEST_CASE("options: what only looks") {
  CHECK(parse_as<ListOptions>({"list"}).directory == "attune-experiments");
  CHECK(parse_as<StatusOptions>({"status", "digits", "--json"}).which.json);
  const auto trials = parse_as<TrialsOptions>(
      {"trials", "--status", "failed,running", "--sort", "best", "--limit", "3"});
  CHECK(trials.statuses == std::vector{TrialStatus::running, TrialStatus::failed});
  CHECK(trials.sort == "best");
  CHECK(trials.limit == 3);
  CHECK(parse_as<ShowOptions>({"show", "t0012"}).trial == "t0012");
  const auto logs = parse_as<LogsOptions>({"logs", "12", "--stderr", "-f"});
  CHECK((logs.from_stderr && logs.follow));
  CHECK_FALSE(parse_as<BestOptions>({"best"}).count);
  CHECK(parse_as<BestOptions>({"best", "-k", "5"}).count == 5);
  const auto exported = parse_as<ExportOptions>({"export", "--format", "jsonl", "-o", "f"});
  CHECK(exported.format == "jsonl");
  CHECK(exported.output == "f");
  CHECK(parse_as<ExportOptions>({"export", "--reports"}).reports);
  CHECK(parse_as<BestOptions>({"best", "--format", "env"}).format == "env");
}

TEST_CASE("options: importance") {
  const auto plain = parse_as<ImportanceOptions>({"importance", "digits"});
  CHECK(plain.which.experiment == "digits");
  CHECK(plain.method == "ped-anova");
  const auto pairs = parse_as<ImportanceOptions>({"importance", "--pairs", "--metric", "size"});
  CHECK((pairs.pairs && pairs.method == "fanova" && pairs.metric == "size"));
  CHECK(parse_as<ImportanceOptions>({"importance", "--method", "fanova"}).method == "fanova");
  CHECK(contains(usage_error({"importance", "--pairs", "--method", "ped-anova"}),
                 "--pairs needs --method fanova"));
  CHECK(contains(usage_error({"importance", "--method", "shap"}), "shap"));
}

TEST_CASE("options: whole experiments") {
  CHECK(parse_as<ConfigOptions>({"config", "digits", "--json"}).which.experiment == "digits");
  const auto compare = parse_as<CompareOptions>({"compare", "a", "b", "--dir", "d"});
  CHECK(compare.experiments == std::vector<std::string>{"a", "b"});
  CHECK(compare.directory == "d");
  const auto rename = parse_as<RenameOptions>({"rename", "abcd", "new name"});
  CHECK(rename.which.experiment == "abcd");
  CHECK(rename.name == "new name");
  const auto deleted = parse_as<DeleteOptions>({"delete", "a", "b", "--yes"});
  CHECK(deleted.experiments == std::vector<std::string>{"a", "b"});
  CHECK(deleted.yes);
  CHECK(contains(usage_error({"delete"}), "experiments is required"));
  CHECK(contains(usage_error({"rename", "abcd"}), "name is required"));
  const auto mcp = parse_as<McpOptions>({"mcp", "--dir", "w", "--allow-changes"});
  CHECK((mcp.directory == "w" && mcp.allow_changes));
  CHECK_FALSE(parse_as<McpOptions>({"mcp"}).allow_changes);
  CHECK(parse_as<CompletionWordsOptions>({"completion-words", "trials", "-e", "x"}).what ==
        "trials");
  CHECK(parse({"--help"}).error().text.find("completion-words") == std::string::npos);
  CHECK(usage_error({"completion-word"}).find("completion-words") == std::string::npos);
}

TEST_CASE("options: what is wrong is named") {
  CHECK(contains(usage_error({"staus"}), "unknown command 'staus', did you mean 'status'?"));
  CHECK(contains(usage_error({"exp"}), "did you mean 'export'?"));
  for (const char* duration : {"0", "-1"})
    CHECK(contains(usage_error({"update", "--duration", duration}), "more than 0 expected"));
  for (const char* duration : {"nan", "inf", "1e400"})
    CHECK(contains(usage_error({"update", "--duration", duration}), "--duration"));
  CHECK(parse({"update", "--duration", "1e-320"}).has_value());
  CHECK(contains(usage_error({"frobnicate"}), "Known: run, resume"));
  CHECK(contains(usage_error({}), "subcommand is required"));
  CHECK(contains(usage_error({"run"}), "file is required"));
  CHECK(contains(usage_error({"run", "e", "--max-trials", "0"}), "--max-trials"));
  CHECK(contains(usage_error({"resume", "--retry", "faild=restart"}), "did you mean 'failed'"));
  CHECK(contains(usage_error({"resume", "--retry", "failed=never"}), "skip, restart, resume"));
  CHECK(contains(usage_error({"resume", "--retry", "failed"}), "wants CLASS=POLICY"));
  CHECK(contains(usage_error({"update"}), "nothing to change"));
  CHECK(contains(usage_error({"update", "--duration", "-5"}), "--duration"));
  CHECK(contains(usage_error({"update", "--duration", "5 weeks"}), "--duration"));
  CHECK(contains(usage_error({"trials", "--status", "lost"}), "--status"));
  CHECK(contains(usage_error({"export", "--format", "xml"}), "--format"));
  CHECK(contains(usage_error({"best", "--format", "env", "--json"}), "--json"));
  CHECK(contains(usage_error({"completion", "tcsh"}), "tcsh"));
  CHECK(contains(usage_error({"list", "--unknown"}), "--unknown"));
}

TEST_CASE("options: an unknown option names the nearest of its command") {
  CHECK(contains(usage_error({"update", "--serch-space", "s.json"}),
                 "attune update: unknown option '--serch-space', did you mean '--search-space'?"));
  CHECK(contains(usage_error({"run", "--max-trails=5"}), "did you mean '--max-trials'?"));
  CHECK(contains(usage_error({"run", "-concurrency", "5"}), "did you mean '--concurrency'?"));
  CHECK(contains(usage_error({"export", "--out", "f"}), "did you mean '--output'?"));
  CHECK(contains(usage_error({"pool", "drain", "--joinn", "x", "w"}),
                 "attune pool drain: unknown option '--joinn', did you mean '--join'?"));
  const std::string far = usage_error({"list", "--frobnicate"});
  CHECK(contains(far, "unknown option '--frobnicate'\nKnown: "));
  CHECK(contains(far, "--dir"));
  CHECK(contains(usage_error({"--dir", "x", "list"}), "options of a command stand behind it"));
  CHECK(contains(usage_error({"best", "-z"}), "unknown option '-z'"));
  // What looks like one and is none.
  CHECK(parse_as<WorkerCommandOptions>({"worker", "--join", "x", "--name", "--odd"}).name ==
        "--odd");
  CHECK(parse_as<BestOptions>({"best", "-k5"}).count == 5);
  CHECK(parse_as<KillOptions>({"kill", "--", "--odd"}).trials == std::vector<std::string>{"--odd"});
  CHECK(parse_as<AddOptions>({"add", "-1"}).parameters == "-1");
}

TEST_CASE("options: help of every command has examples") {
  for (const char* name :
       {"run",      "resume", "stop",       "status", "list",    "trials", "show",
        "kill",     "add",    "logs",       "best",   "export",  "import", "update",
        "simulate", "adopt",  "completion", "config", "compare", "rename", "delete"}) {
    const auto help = parse({name, "--help"});
    REQUIRE_FALSE(help.has_value());
    CHECK(help.error().exit_code == 0);
    CHECK(contains(help.error().text, "Examples:\n  "));
    CHECK(contains(help.error().text, std::string("attune ") + name));
  }
  CHECK(contains(parse({"--help"}).error().text, "Exit codes: 0 done"));
  CHECK(contains(parse({"--version"}).error().text, "attune "));
}

// What bash offers after `words`, a line for each. ./attune is a program that knows two words, the
// second of which should not be carried out, and says what it was asked in `asked`.
std::string bash_offers(const std::string& script, const std::string& words,
                        std::string* asked = nullptr) {
  const TemporaryFolder folder;
  std::ofstream(folder.path / "completion.bash") << script;
  std::ofstream(folder.path / "experiment.yaml") << "";
  std::ofstream(folder.path / "attune") << "#!/bin/sh\necho \"$*\" > asked\n"
                                           "printf '%s\\n' t0001 't0002 $(touch done)'\n";
  std::filesystem::permissions(folder.path / "attune", std::filesystem::perms::owner_all);
  std::ofstream(folder.path / "try.sh")
      << "cd " << folder.path.string() << "\nsource ./completion.bash\nCOMP_WORDS=(" << words
      << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_attune\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
  std::string offers;
  FILE* pipe = ::popen(("bash " + (folder.path / "try.sh").string()).c_str(), "r");
  REQUIRE(pipe != nullptr);
  for (int c = ::fgetc(pipe); c != EOF; c = ::fgetc(pipe)) offers += static_cast<char>(c);
  CHECK(::pclose(pipe) == 0);
  CHECK_FALSE(std::filesystem::exists(folder.path / "done"));
  if (asked != nullptr) std::getline(std::ifstream(folder.path / "asked"), *asked);
  return offers;
}

TEST_CASE("options: bash completes commands, options, files and words") {
  const auto script = parse({"completion", "bash"});
  REQUIRE_FALSE(script.has_value());
  CHECK(script.error().exit_code == 0);
  const std::string& text = script.error().text;
  CHECK(bash_offers(text, "attune re") == "resume\nrename\nreport\n");
  CHECK(bash_offers(text, "attune run e") == "experiment.yaml\n");
  CHECK(bash_offers(text, "attune run --max") == "--max-trials\n");
  CHECK(bash_offers(text, "attune export --format ''") ==
        "csv\njsonl\noptuna\ntensorboard\nmlflow\n");
  CHECK(bash_offers(text, "attune trials --status pa") == "paused\n");
  CHECK(bash_offers(text, "attune completion f") == "fish\n");
  std::string asked;
  CHECK(bash_offers(text, "./attune show --dir d -e abcd t", &asked) ==
        "t0001\nt0002 $(touch done)\n");
  CHECK(asked == "completion-words trials --dir d -e abcd");
  CHECK(bash_offers(text, "./attune delete t0001", &asked) == "t0001\n");
  CHECK(asked == "completion-words experiments");
  CHECK(bash_offers(text, "./attune show -e ''", &asked).starts_with("t0001\n"));
  CHECK(asked == "completion-words experiments");
  CHECK(bash_offers(text, "attune show t") == "\n");  // no program: nothing, and no error
}

TEST_CASE("options: every option of the help is in the man page") {
  const std::string page = parse({"man"}).error().text;
  CHECK(parse({"man"}).error().exit_code == 0);
  int options = 0;
  for (const char* name :
       {"run",      "resume",     "stop",   "status",  "list",   "trials", "show",
        "kill",     "add",        "logs",   "best",    "export", "import", "update",
        "simulate", "completion", "config", "compare", "rename", "delete", "coordinator",
        "worker",   "pool",       "mcp",    "adopt"}) {
    const std::size_t begin = page.find(fmt::format(".SS \\fBattune {}\\fR", name));
    REQUIRE(begin != std::string::npos);
    const std::string section = page.substr(begin, page.find(".SS \\fBattune", begin + 1) - begin);
    std::istringstream help(parse({name, "--help"}).error().text);
    for (std::string word; help >> word;) {
      if (word.starts_with("Examples")) break;
      if (!word.starts_with("--")) continue;
      std::string shown = word.substr(0, word.find_first_of(",=[{ "));
      for (std::size_t i = 0; (i = shown.find('-', i)) != std::string::npos; i += 2)
        shown.insert(i, "\\");
      INFO(name << " " << word);
      CHECK(section.find("\\fB" + shown + "\\fR") != std::string::npos);
      ++options;
    }
  }
  CHECK(options > 100);
}

TEST_CASE("options: numbers of a worker that are none") {
  const auto [option, value] = GENERATE(table<std::string, std::string>({
      {"--cpu", "-1"},
      {"--cpu", "nan"},
      {"--cpu", "inf"},
      {"--cpu", "x"},
      {"--gpu", "nan"},
      {"--memory", "-1"},
      {"--leave-after", "-1"},
      {"--unreachable-after", "-1"},
  }));
  INFO(option << " " << value);
  CHECK(contains(usage_error({"worker", "--join", "x", option, value}),
                 option + ": a number from 0 to 1e18 expected, not " + value));
  CHECK(contains(usage_error({"worker", "--join", "x", "--resource", "a=1e19"}),
                 "NAME=AMOUNT is wanted"));
  CHECK(contains(usage_error({"coordinator", "--worker-cpu", "nan"}), "--worker-cpu: a number"));
  CHECK(contains(usage_error({"coordinator", "--lost-after", "-1"}), "--lost-after: a number"));
  // As in experiment files.
  CHECK(parse_as<WorkerCommandOptions>({"worker", "--join", "x", "--memory", "2kB"}).memory ==
        2000);
  CHECK(parse_as<WorkerCommandOptions>({"worker", "--join", "x", "--memory", "2KiB"}).memory ==
        2048);
}

TEST_CASE("options: the scripts of the other shells name every command and option") {
  for (const char* shell : {"zsh", "fish"}) {
    const std::string text = parse({"completion", shell}).error().text;
    for (const char* word : {"resume", "simulate", "max-trials", "search-space", "csv jsonl"})
      CHECK(contains(text, word));
  }
  CHECK(contains(parse({"completion", "fish"}).error().text,
                 "'__fish_seen_subcommand_from export' -l output -s o -r -F"));
  CHECK(contains(parse({"completion", "zsh"}).error().text,
                 "'--format[Format (default\\: csv)]:value:(csv"));
}

}  // namespace attune::options_test
