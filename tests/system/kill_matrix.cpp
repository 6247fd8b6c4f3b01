// Kills attuned with SIGKILL after the k-th command of a session, resumes it, and compares all
// answers with those of a daemon that nothing happened to, byte for byte, worker by worker.
//   kill_matrix --tuner TPE --assessor Medianstop --commands 200 --every 1
// The manager keeps the rules of docs/protocol.md, "Exactly once". Each command is followed by a
// PING that is waited for, but for the one that the daemon is killed after: so the answers do not
// depend on timing. If the tuner judges reports, the manager can pause trials, lets them go on and
// saves checkpoints, and its trials count their steps up to --max-t.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <unordered_set>

#include "base/check.h"
#include "daemon/crew.h"
#include "daemon/options.h"
#include "plugins/process/supervisor.h"
#include "protocol/codec.h"
#include "tests/support/busy_manager.h"
#include "tests/support/daemon_process.h"
#include "tests/support/temporary_folder.h"

namespace attune {
namespace {

struct Settings {
  std::string tuner = "TPE", tuner_args = R"({"seed": 3})";
  std::string assessor, assessor_args;  // empty: such that it does stop trials
  std::string space =
      R"({"x": {"_type": "uniform", "_value": [0, 1]}, "n": {"_type": "randint", "_value": [1, 9]},
          "layer": {"_type": "choice", "_value": [
            {"_name": "conv", "k": {"_type": "choice", "_value": [1, 3, 5]}}, {"_name": "none"}]}})";
  std::vector<std::string> daemon_options, plugins;
  int commands = 200;
  int every = 1;
  int kills = 1;  // in one session
  int concurrency = 4;
  int max_t = 9;  // steps of a full training; 0: the tuner is not told
  std::uint64_t seed = 1;
  bool include_intermediate = false;
  bool pauses = false;  // the manager can: set if the tuner judges reports
};

constexpr const char* kResource = "training_iteration";

json assessor_arguments(const Settings& settings) {
  if (!settings.assessor_args.empty()) return parse_json(settings.assessor_args).value();
  if (settings.assessor == "Curvefitting") return {{"epoch_num", 6}, {"start_step", 2}};
  return json::object();
}

// How attuned is started; `received`: how many answers are there, of a manager that resumes.
std::vector<std::string> arguments_of(const Settings& settings,
                                      std::optional<std::size_t> received = {}) {
  json experiment = {
      {"tuner",
       {{"name", settings.tuner}, {"classArgs", parse_json(settings.tuner_args).value()}}}};
  if (!settings.assessor.empty()) {
    experiment["assessor"] = {{"name", settings.assessor},
                              {"classArgs", assessor_arguments(settings)}};
  }
  if (settings.pauses) {
    experiment["capabilities"] = {"pause", "checkpoint", "reason"};
    if (settings.max_t > 0)
      experiment["fidelity"] = {{"metric", kResource}, {"max", settings.max_t}};
  }
  if (received) experiment["resume"] = {{"received", *received}};
  auto arguments = DaemonProcess::exp_params(experiment);
  arguments.insert(arguments.end(), settings.daemon_options.begin(), settings.daemon_options.end());
  for (const std::string& plugin : settings.plugins) {
    arguments.emplace_back("--plugin");
    arguments.push_back(plugin);
  }
  return arguments;
}

// Whether the tuner judges reports for a manager that can pause.
bool wants_reports(Settings settings) {
  settings.pauses = true;
  const auto arguments = arguments_of(settings);
  std::vector<const char*> argv = {"attuned"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  Options options;
  const auto read = read_options(static_cast<int>(argv.size()), argv.data(), {}, 1, options);
  if (!read) throw std::runtime_error(read.error().text);
  if (!*read) throw std::runtime_error(read->error().message);
  Algorithms algorithms{builtin_tuners(), builtin_assessors()};
  if (const auto added = add_plugins(options.configuration, algorithms, {}); !added) {
    throw std::runtime_error(added.error().message);
  }
  const auto crew = make_crew(options.configuration, algorithms, SystemClock(), {});
  if (!crew) throw std::runtime_error(crew.error().message);
  return crew->dispatcher->options().wants_reports;
}

// A daemon and what the manager remembers of the conversation with all of its lives.
class Conversation {
 public:
  explicit Conversation(const Settings& settings) : settings_(settings) {}

  // The next life. Returns how many commands the daemon remembers.
  std::uint64_t start(bool resume) {
    daemon_.emplace(
        arguments_of(settings_, resume ? std::optional(answers.size()) : std::nullopt),
        std::map<std::string, std::string>{{"NNI_MODE", resume ? "resume" : "start"},
                                           {"NNI_CHECKPOINT_DIRECTORY", folder_.path.string()},
                                           {"NNI_INCLUDE_INTERMEDIATE_RESULTS",
                                            settings_.include_intermediate ? "true" : "false"}});
    daemon_->send("IN", settings_.space);
    const auto frame = daemon_->receive();
    if (!frame || frame->code != "ID") throw std::runtime_error("no ID: " + daemon_->log());
    const auto id = std::get<Initialized>(decode(*frame).value());
    if (resume && !id.through) throw std::runtime_error("ID without through: " + daemon_->log());
    return id.through.value_or(0);
  }

  void send(const Frame& command) { daemon_->send(command.code, command.payload); }

  // Until the answer to this PING.
  void wait_for(const std::string& token) {
    while (true) {
      auto frame = daemon_->receive();
      if (!frame) throw std::runtime_error("the daemon left: " + daemon_->log());
      answers.push_back(*frame);
      if (frame->code == "PO" && frame->payload == token) return;
    }
  }

  // What it had written by then still arrives.
  void kill() {
    daemon_->signal(SIGKILL);
    daemon_->wait();
    for (Frame& frame : daemon_->receive_all()) answers.push_back(std::move(frame));
  }
  void end() {
    daemon_->send("TE");
    ATTUNE_CHECK(daemon_->wait() == 0);
  }
  std::string log() const { return daemon_->log(); }

  std::vector<Frame> answers;  // all that are counted, in order

 private:
  const Settings& settings_;
  TemporaryFolder folder_;
  std::optional<DaemonProcess> daemon_;
};

struct Session {
  std::vector<Frame> commands;  // without IN
  std::vector<Frame> answers;
  int kills = 0, pauses = 0, resumes = 0, copies = 0;  // of trials
};

Session record(const Settings& settings) {
  Session session;
  Conversation conversation(settings);
  conversation.start(false);
  BusyManager manager(settings.space, settings.concurrency, settings.seed,
                      settings.pauses ? kResource : "");
  manager.next();  // IN
  std::size_t heard = 0;
  for (int i = 0; i < settings.commands; ++i) {
    const std::string token = fmt::format("t{}", i);
    for (Frame command : {manager.next(), Frame{"PI", token}}) {
      conversation.send(command);
      session.commands.push_back(std::move(command));
    }
    conversation.wait_for(token);
    for (; heard < conversation.answers.size(); ++heard) {
      manager.hear(conversation.answers[heard]);
    }
  }
  conversation.end();
  session.answers = conversation.answers;
  session.kills = manager.kills;
  session.pauses = manager.pauses;
  session.resumes = manager.resumes;
  session.copies = manager.copies;
  return session;
}

// Sends commands [from, to); waits for each PING, but for those from `unwaited` on.
void send(Conversation& conversation, const Session& session, std::size_t from, std::size_t to,
          std::size_t unwaited) {
  for (std::size_t i = from; i < to; ++i) {
    const Frame& command = session.commands[i];
    conversation.send(command);
    if (command.code == "PI" && !command.payload.empty() && i < unwaited) {
      conversation.wait_for(command.payload);
    }
  }
}

void spin(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// The answers of the tuner's worker ("TR"), the assessor's ("KI"), and to PINGs ("PO"), which need
// both: only the order within each does not depend on timing.
std::vector<Frame> stream(const std::vector<Frame>& answers, const std::string& of) {
  std::vector<Frame> result;
  for (const Frame& frame : answers) {
    const bool other = frame.code == "KI" || frame.code == "PO";
    if ((other ? frame.code : "TR") == of) result.push_back(frame);
  }
  return result;
}

std::string difference(const std::vector<Frame>& is, const std::vector<Frame>& should) {
  for (std::size_t i = 0; i < std::max(is.size(), should.size()); ++i) {
    const Frame one = i < is.size() ? is[i] : Frame{"--", "nothing"};
    const Frame other = i < should.size() ? should[i] : Frame{"--", "nothing"};
    if (one == other) continue;
    return fmt::format("answer {} of {}: {} {} instead of {} {}", i, should.size(), one.code,
                       one.payload, other.code, other.payload);
  }
  return {};
}

// How many of the first `sent` commands the daemon had promised to remember.
std::uint64_t promised(const std::vector<Frame>& answers, const std::vector<Frame>& commands,
                       std::size_t sent) {
  std::unordered_set<std::string> echoes;
  for (const Frame& frame : answers) {
    if (frame.code == "PO") echoes.insert(frame.payload);
  }
  while (sent > 0 &&
         !(commands[sent - 1].code == "PI" && echoes.contains(commands[sent - 1].payload))) {
    --sent;
  }
  return sent;
}

struct Tally {
  int runs = 0, kills = 0;
  std::uint64_t resent = 0;  // commands that the killed daemon had not remembered
};

// Killed after command k, and `kills` - 1 times more in the rest. Empty: all is as it should be.
std::string try_kill(const Settings& settings, const Session& session, std::size_t k, Tally& tally,
                     Rng& rng) {
  Conversation conversation(settings);
  conversation.start(false);
  std::uint64_t through = 0;
  std::size_t at = k;
  for (int kill = 0; kill < settings.kills && at <= session.commands.size(); ++kill) {
    const int how = static_cast<int>(rng.index(3));
    // The last command, and the PING behind it, if that is sent, too. The PING before is waited
    // for: the last command may be what the manager did because of an answer to the one before.
    const std::size_t last = at > 0 ? (at - 1) / 2 * 2 : 0;
    const std::size_t unwaited = how == 0 ? at : last;
    send(conversation, session, through, at, unwaited);
    if (how == 1) spin(std::chrono::microseconds(rng.index(600)));
    conversation.kill();
    ++tally.kills;
    const std::uint64_t acknowledged = promised(conversation.answers, session.commands, at);
    through = conversation.start(true);
    if (through < acknowledged || through > at) {
      return fmt::format("through {}: {} were sent, {} acknowledged\n{}", through, at, acknowledged,
                         conversation.log());
    }
    tally.resent += at - through;
    at += 2 * (1 + rng.index(20));
  }
  const std::size_t all = session.commands.size();
  send(conversation, session, through, all, all);
  // The last PING may have been remembered by a daemon that was killed before it answered.
  if (promised(conversation.answers, session.commands, all) < all)
    conversation.wait_for(session.commands.back().payload);
  conversation.end();
  ++tally.runs;
  for (const char* of : {"TR", "KI", "PO"}) {
    const auto text = difference(stream(conversation.answers, of), stream(session.answers, of));
    if (!text.empty()) return text + "\n" + conversation.log();
  }
  return {};
}

int run(Settings settings) {
  settings.pauses = wants_reports(settings);
  const std::string name =
      settings.tuner + (settings.assessor.empty() ? "" : " + " + settings.assessor);
  const Session session = record(settings);
  if (!settings.assessor.empty() && session.kills == 0) {
    std::cout << name << ": FAILED: the assessor stops nothing in this session\n";
    return 1;
  }
  // Some rules pause no trial: what goes on is a new one, which starts from a checkpoint.
  if (settings.pauses && session.pauses == 0 && session.copies == 0) {
    std::cout << name << ": FAILED: the tuner pauses and copies nothing in this session\n";
    return 1;
  }
  Tally tally;
  Rng rng(settings.seed);
  // Command and PING go in pairs: kills after each of the two are tried in turn.
  const auto step = static_cast<std::size_t>(settings.every) * 2;
  for (std::size_t k = 1; k <= session.commands.size(); k += step) {
    const std::size_t at = std::min(k + rng.index(2), session.commands.size());
    const std::string trouble = try_kill(settings, session, at, tally, rng);
    if (trouble.empty()) continue;
    std::cout << name << ": FAILED, killed after command " << at << ": " << trouble << "\n";
    return 1;
  }
  std::cout << fmt::format(
      "{}: {} commands, {} answers; {} kills, {} pauses, {} resumes and {} copies of trials; {} "
      "sessions with {} kills of the daemon, {} commands sent again, all answers equal\n",
      name, session.commands.size(), session.answers.size(), session.kills, session.pauses,
      session.resumes, session.copies, tally.runs, tally.kills, tally.resent);
  return 0;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Kills attuned after every k-th command, and compares what it answers then");
  Settings settings;
  app.add_option("--tuner", settings.tuner);
  app.add_option("--tuner-args", settings.tuner_args);
  app.add_option("--assessor", settings.assessor);
  app.add_option("--assessor-args", settings.assessor_args);
  app.add_option("--space", settings.space);
  app.add_option("--commands", settings.commands, "Of the session, beside the PINGs");
  app.add_option("--every", settings.every, "Kill after every so many commands");
  app.add_option("--kills", settings.kills, "In each session");
  app.add_option("--concurrency", settings.concurrency);
  app.add_option("--max-t", settings.max_t,
                 "Steps of a full training, for tuners that judge reports; 0: they are not told");
  app.add_option("--seed", settings.seed);
  app.add_flag("--include-intermediate", settings.include_intermediate);
  app.add_option("--plugin", settings.plugins, "As attuned's; may be repeated");
  app.add_option("--daemon-option", settings.daemon_options, "Passed on; may be repeated");
  CLI11_PARSE(app, argc, argv);
  return run(settings);
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == std::string_view(attune::kSupervisorCommand))
    return attune::supervise_plugin(argv + 2);  // it opens plug-ins, as attuned does
  try {
    return attune::parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "kill_matrix: " << error.what() << "\n";
    return 1;
  }
}
