#include "daemon/options.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "base/base64.h"
#include "daemon/experiment.h"
#include "daemon/version.h"
#include "plugins/open/open.h"

namespace attune {
namespace {

struct Arguments {
  std::string exp_params;
  std::string tuner, tuner_args, assessor, assessor_args;
  std::optional<std::uint64_t> seed;
  std::string log_level;
  std::vector<std::string> capabilities, plugins;
  std::string when_exhausted;
  bool list = false, print_config = false, check = false, man = false;
};

const std::map<std::string, Durability> kDurabilities = {{"write", Durability::each_second},
                                                         {"always", Durability::always},
                                                         {"never", Durability::never}};

// A list of options.
// NOLINTNEXTLINE(readability-function-size)
void declare(CLI::App& app, Arguments& arguments, Options& options) {
  Configuration& configuration = options.configuration;
  app.set_version_flag("--version", "attuned " + std::string(kVersion));
  app.add_option("--exp_params,--exp-params", arguments.exp_params,
                 "Experiment parameters as base64 of JSON, as NNI's manager passes them; other "
                 "unknown arguments are then ignored")
      ->type_name("BASE64");
  app.add_option("--tuner", arguments.tuner, "Search algorithm, see --list; default auto")
      ->type_name("NAME");
  app.add_option("--tuner-args", arguments.tuner_args, "Its arguments")->type_name("JSON");
  app.add_option("--assessor", arguments.assessor, "Early-stopping rule, see --list")
      ->type_name("NAME");
  app.add_option("--assessor-args", arguments.assessor_args, "Its arguments")->type_name("JSON");
  app.add_option(
         "--plugin", arguments.plugins,
         "Tuners and assessors that are not built in: a shared object NAME.so, or a command "
         "line. Its code runs with the rights of this program. May be repeated")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--seed", arguments.seed, "Seed of a tuner whose arguments name none");
  app.add_option("--capabilities", arguments.capabilities,
                 "What the manager understands beyond NNI: sync, pause, checkpoint, reason, error")
      ->delimiter(',');
  app.add_option("--when-exhausted", arguments.when_exhausted,
                 "Once a tuner has proposed every point: stop, and say so, or repeat the points "
                 "with the best results. Default: repeat where NNI's tuner of that name does, for "
                 "managers without capabilities; else stop")
      ->check(CLI::IsMember({"repeat", "stop"}));
  auto* in =
      app.add_option("--in-fd", configuration.in_fd, "Descriptor that commands are read from")
          ->capture_default_str();
  auto* out =
      app.add_option("--out-fd", configuration.out_fd, "Descriptor that answers are written to")
          ->capture_default_str();
  auto* channel = app.add_option("--channel", configuration.websocket_url,
                                 "WebSocket of the manager, as NNI 2.8 and later; default, when "
                                 "neither a descriptor nor --listen is given, "
                                 "$NNI_TUNER_COMMAND_CHANNEL")
                      ->type_name("URL");
  app.add_option("--listen", configuration.listen,
                 "Make a unix-domain socket there, and wait until the manager connects, as NNI 2.7 "
                 "with --dispatcher-pipe")
      ->type_name("SOCKET")
      ->excludes(in, out, channel);
  app.add_option("--framing", configuration.length_digits,
                 "Digits of the length in a frame: 14, or 6 for NNI before 1.6")
      ->check(CLI::IsMember({14, 6}))
      ->capture_default_str();
  app.add_flag("--drain", configuration.drain,
               "On Terminate, handle what is queued before exiting");
  app.add_option("--checkpoint-dir", configuration.checkpoint_directory,
                 "Keep the journal here, for --resume; default $NNI_CHECKPOINT_DIRECTORY")
      ->type_name("DIR");
  app.add_flag("--resume", configuration.resume,
               "Go on where the journal ends, as with NNI_MODE=resume");
  app.add_option_function<std::string>(
         "--durability",
         [&configuration](const std::string& name) {
           configuration.durability = kDurabilities.at(name);
         },
         "write: an answer leaves when its record is written, the disk has it within a "
         "second; always: when the disk has it; never: when the disk gets it is left to the "
         "system")
      ->check(CLI::IsMember({"write", "always", "never"}))
      ->default_str("write");
  app.add_option("--snapshot-bytes", configuration.snapshot_bytes,
                 "Size of the journal from which on a snapshot shortens it")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40))
      ->capture_default_str();
  app.add_option("--log-file", configuration.log_file,
                 "Log here instead of $NNI_LOG_DIRECTORY/dispatcher.log or stderr");
  app.add_option("--log-level", arguments.log_level,
                 "trace, debug, info, warning, error or fatal; default $NNI_LOG_LEVEL or info");
  app.add_flag("--list", arguments.list, "Print every tuner and assessor with its arguments");
  app.add_flag("--json", options.as_json, "With --list: as JSON");
  // Called by the installation.
  app.add_flag("--man", arguments.man, "Print the manual page")->group("");
  app.add_flag("--print-config", arguments.print_config, "Print the effective settings as JSON");
  app.add_flag("--check", arguments.check,
               "Read a search space from standard input, and say as JSON whether tuner, assessor "
               "and space can be used");
  for (const LimitEntry& entry : limit_entries()) {
    app.add_option(std::string("--max-") + entry.name, configuration.limits.*entry.value,
                   entry.help)
        ->type_name("N")
        ->check(CLI::Range(entry.least, entry.most))
        ->group("Limits, docs/protocol.md")
        ->capture_default_str();
  }
  app.footer(
      "Started by an experiment manager, which writes commands to descriptor 3 and reads answers\n"
      "from descriptor 4, or offers a WebSocket for both. Exit codes: 0 asked to end, 1 internal\n"
      "error, 2 unusable arguments, parameters, search space or connection, 3 unreadable "
      "commands.");
}

// attuned journal dump|verify|repair FILE
void declare_journal(CLI::App& app, Options& options) {
  using Action = JournalCommand::Action;
  auto* journal = app.add_subcommand("journal", "Look at a journal, or repair it");
  journal->require_subcommand(1);
  JournalCommand& command = options.journal;
  const auto add = [&](const char* name, Action action, const char* help) {
    auto* made = journal->add_subcommand(name, help);
    made->add_option("FILE", command.file, "attuned.journal")->required();
    made->callback([&options, action] {
      options.run = Options::Run::journal;
      options.journal.action = action;
    });
    return made;
  };
  auto* dump = add("dump", Action::dump,
                   "Print one record a line: byte, kind, number of the command or answer, payload");
  dump->add_flag("--full", command.full, "Do not shorten long payloads");
  dump->add_flag("--json", command.as_json, "One JSON object a line");
  add("verify", Action::verify,
      "Read all of it and say what it holds; exit code 1 when it is damaged");
  auto* repair = add("repair", Action::repair,
                     "Keep what stands before the damage; the original is kept as FILE.damaged");
  repair->add_flag("--skip-damaged", command.skip_damaged)->group("");  // refused, with the reason
}

// attuned check-plugin [--classArgs JSON] [--quick] FILE...
void declare_check_plugin(CLI::App& app, Options& options) {
  auto* check = app.add_subcommand(
      "check-plugin", "Check that the tuners and assessors of plug-ins do what every one must do");
  CheckPlugin& command = options.check_plugin;
  check->add_option("FILE", command.plugins, "Plug-ins, as --plugin takes them")->required();
  check->add_option("--classArgs,--class-args", command.class_args, "Arguments of each algorithm")
      ->type_name("JSON");
  check->add_flag("--quick", command.quick,
                  "Fewer turns and search spaces, for algorithms that are slow");
  check->footer("Exit codes: 0 all is well, 1 a check has failed, 2 a plug-in cannot be opened.");
  check->callback([&options] { options.run = Options::Run::check_plugin; });
}

Result<json> parse_argument(const std::string& option, const std::string& text) {
  if (text.empty()) return json::object();
  auto value = parse_json(text);
  if (!value) return fail(option + ": " + value.error().message);
  return value;
}

Result<void> read_exp_params(const std::string& encoded, Configuration& configuration) {
  auto text = base64_decode(encoded);
  if (!text) return fail("--exp_params: " + text.error().message);
  auto experiment = parse_json(*text);
  if (!experiment) return fail("--exp_params: " + experiment.error().message);
  return read_experiment(*experiment, configuration);
}

Result<void> apply(const Arguments& arguments, Configuration& configuration) {
  if (!arguments.exp_params.empty()) {
    TRY(read_exp_params(arguments.exp_params, configuration));
  }
  // What is on the command line wins over the experiment parameters.
  if (!arguments.tuner.empty()) configuration.tuner = {.name = arguments.tuner};
  if (!arguments.tuner.empty() || !arguments.tuner_args.empty()) {
    configuration.tuner.arguments = TRY(parse_argument("--tuner-args", arguments.tuner_args));
  }
  if (!arguments.assessor.empty()) {
    json given = TRY(parse_argument("--assessor-args", arguments.assessor_args));
    configuration.assessor = {arguments.assessor, std::move(given)};
  }
  if (!arguments.capabilities.empty()) {
    json names = json::array();
    for (const auto& name : arguments.capabilities) names.push_back(name);
    configuration.capabilities = parse_capabilities({{"capabilities", names}});
  }
  if (!arguments.when_exhausted.empty()) {
    configuration.when_exhausted = parse_when_exhausted(arguments.when_exhausted);
  }
  return apply_objectives(configuration);
}

// Sets where and what to log. Called before apply(), whose errors are logged there.
Result<void> read_log_settings(const Arguments& arguments,
                               const std::map<std::string, std::string>& environment,
                               Configuration& configuration) {
  const auto directory = environment.find("NNI_LOG_DIRECTORY");
  if (configuration.log_file.empty()) {
    if (directory != environment.end() && !directory->second.empty()) {
      configuration.log_file = directory->second + "/dispatcher.log";
    } else if (!arguments.exp_params.empty()) {
      configuration.log_file = "dispatcher.log";
    }
  }
  if (!arguments.log_level.empty()) {
    configuration.log_level = TRY(parse_log_level(arguments.log_level));
  } else if (const auto level = environment.find("NNI_LOG_LEVEL"); level != environment.end()) {
    // As NNI: a level that nobody knows is no reason not to start.
    configuration.log_level = parse_log_level(level->second).value_or(LogLevel::info);
  }
  return {};
}

// What the environment says, where no option says anything.
void read_variables(const std::map<std::string, std::string>& environment, bool has_pipes,
                    Configuration& configuration) {
  const auto variable = [&environment](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  configuration.resume |= variable("NNI_MODE") == "resume";
  if (configuration.checkpoint_directory.empty()) {
    configuration.checkpoint_directory = variable("NNI_CHECKPOINT_DIRECTORY");
  }
  if (configuration.websocket_url.empty() && configuration.listen.empty() && !has_pipes) {
    configuration.websocket_url = variable("NNI_TUNER_COMMAND_CHANNEL");
  }
  configuration.include_intermediate = variable("NNI_INCLUDE_INTERMEDIATE_RESULTS") == "true";
}

// What follows from the options taken together.
void conclude(const Arguments& arguments, Configuration& configuration) {
  const Capabilities& can = configuration.capabilities;
  const bool plain = !(can.sync || can.pause || can.checkpoint || can.reason || can.error);
  configuration.nni_manager =
      plain && (!arguments.exp_params.empty() || !configuration.listen.empty());
  // As NNI: its manager names one folder for the dispatcher and for the checkpoints of trials.
  if (configuration.nni_manager && !configuration.checkpoint_directory.empty()) {
    std::error_code ignored;
    configuration.trial_checkpoints =
        std::filesystem::absolute(configuration.checkpoint_directory, ignored).string();
  }
  configuration.context.pauses = can.pause && can.checkpoint;
  configuration.context.assessed = configuration.assessor.has_value();
}

}  // namespace

std::expected<Result<void>, Usage> read_options(
    int argc, const char* const* argv, const std::map<std::string, std::string>& environment,
    std::uint64_t fallback_seed, Options& options) {
  CLI::App app("attuned, the tuning daemon: proposes configurations, stops bad trials early");
  Arguments arguments;
  declare(app, arguments, options);
  declare_journal(app, options);
  declare_check_plugin(app, options);
  app.allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return std::unexpected(usage_after(app, error, "attuned"));
  }
  if (arguments.man) {
    return std::unexpected(manual_page(app, "attuned", std::string(kVersion), "attune(1)"));
  }
  if (options.run == Options::Run::journal || options.run == Options::Run::check_plugin) {
    return Result<void>();
  }
  if (arguments.exp_params.empty() && !app.remaining().empty()) {
    return std::unexpected(
        Usage{2, "attuned: unknown argument " + app.remaining().front() + "; see --help\n"});
  }
  Configuration& configuration = options.configuration;
  const bool has_pipes = app.count("--in-fd") > 0 || app.count("--out-fd") > 0;
  read_variables(environment, has_pipes, configuration);
  configuration.fallback_seed = arguments.seed.value_or(fallback_seed);
  if (auto log = read_log_settings(arguments, environment, configuration); !log) {
    return std::unexpected(Usage{2, "attuned: " + log.error().message + "\n"});
  }
  for (const std::string& text : arguments.plugins) {
    auto spec = plugin_spec(text);
    if (!spec) return std::unexpected(Usage{2, "attuned: " + spec.error().message + "\n"});
    configuration.plugins.push_back(*std::move(spec));
  }
  if (arguments.list) {
    options.run = Options::Run::list;
    return Result<void>();
  }
  if (arguments.print_config) options.run = Options::Run::print_config;
  if (arguments.check) options.run = Options::Run::check;
  Result<void> applied = apply(arguments, configuration);
  conclude(arguments, configuration);
  return applied;
}

}  // namespace attune
