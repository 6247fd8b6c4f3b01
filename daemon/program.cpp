#include "daemon/program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/terminal_text.h"
#include "daemon/accept_manager.h"
#include "daemon/check_command.h"
#include "daemon/listing.h"
#include "daemon/manager_process.h"
#include "daemon/opening.h"
#include "daemon/options.h"
#include "daemon/pipe_channel.h"
#include "daemon/read_ahead.h"
#include "daemon/server.h"
#include "daemon/version.h"
#include "daemon/websocket_channel.h"

namespace attune {
namespace {

using std::chrono::milliseconds;

// Lines of one kind: whatever a manager does, the log grows by no more than some 100 kB a second.
constexpr int kLogLinesASecond = 1000;
// NNI 2.7 sends a command, a Ping at the least, every 5 s.
constexpr milliseconds kNniCommand{7000};

std::map<std::string, std::string> read_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry; ++entry) {
    if (const char* equals = std::strchr(*entry, '=')) {
      variables.emplace(std::string(static_cast<const char*>(*entry), equals), equals + 1);
    }
  }
  return variables;
}

Result<Log> open_log(const Configuration& configuration) {
  if (configuration.log_file.empty()) {
    return Log::to_stderr(configuration.log_level).limited(kLogLinesASecond);
  }
  return TRY(Log::to_file(configuration.log_file, configuration.log_level, /*echo_errors=*/true))
      .limited(kLogLinesASecond);
}

Result<void> check_descriptor(int fd, std::string_view option) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) {
    return fail(
        fmt::format("descriptor {} ({}) is not open: attuned is started by an experiment "
                    "manager, which gives it a pipe there; see --help",
                    fd, option));
  }
  if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
    return fail(
        fmt::format("descriptor {} ({}) must be a pipe, a socket or a terminal, not a file; "
                    "for example: cat commands | attuned --in-fd 0 --out-fd 1 | cat",
                    fd, option));
  }
  return {};
}

// Gives the channel descriptors of its own that no child inherits.
Result<void> take_descriptors(Configuration& configuration) {
  TRY(check_descriptor(configuration.in_fd, "--in-fd"));
  TRY(check_descriptor(configuration.out_fd, "--out-fd"));
  const int in = ::fcntl(configuration.in_fd, F_DUPFD_CLOEXEC, 10);
  const int out = ::fcntl(configuration.out_fd, F_DUPFD_CLOEXEC, 10);
  if (in < 0 || out < 0) return fail(fmt::format("dup: {}", std::strerror(errno)));
  for (const int fd : {configuration.in_fd, configuration.out_fd}) {
    if (fd > 2) ::close(fd);
  }
  configuration.in_fd = in;
  configuration.out_fd = out;
  return {};
}

// With --listen the manager's connection takes the place of the descriptors. False: a signal came
// first. What is wrong with the configuration is found before: nobody waits for the daemon yet.
Result<bool> await_manager(Configuration& configuration, const Algorithms& algorithms,
                           const Log& log) {
  if (configuration.listen.empty()) return true;
  {
    // These plug-ins end again: a manager may come after days.
    Algorithms all = algorithms;
    TRY(add_plugins(configuration, all, log.named("plugin")));
    const SystemClock clock;
    TRY(make_crew(configuration, all, clock, Log()));
  }
  auto connection = TRY(accept_manager(configuration.listen, log));
  if (!connection) return false;
  configuration.in_fd = configuration.out_fd = connection->release();
  return true;
}

Result<std::unique_ptr<Channel>> open_channel(boost::asio::io_context& io,
                                              Configuration& configuration, const Log& log) {
  std::unique_ptr<Channel> channel;
  if (!configuration.websocket_url.empty()) {
    channel = make_websocket_channel(
        io, TRY(parse_websocket_url(configuration.websocket_url)),
        {.max_payload = configuration.limits.payload, .max_ahead = configuration.limits.queue},
        find_manager(), log);
  } else {
    TRY(take_descriptors(configuration));
    channel = std::make_unique<PipeChannel>(
        io, configuration.in_fd, configuration.out_fd, configuration.framing(),
        configuration.nni_manager ? kNniCommand : milliseconds(0), log);
  }
  // Descriptor 1 becomes a copy of stderr: a stray print can then never corrupt a frame.
  if (::dup2(2, 1) < 0) return fail(fmt::format("dup2: {}", std::strerror(errno)));
  return channel;
}

// `read`: whether the configuration can be used. Without a channel nobody can be told of an error.
Result<int> serve(Configuration& configuration, Result<void> read, Algorithms algorithms,
                  const Log& log) {
  // A manager that has a WebSocket knows ER, and has no other way to learn what went wrong.
  if (!configuration.websocket_url.empty()) configuration.capabilities.error = true;
  if (!configuration.listen.empty() && !read) return std::unexpected(read.error());
  if (!TRY(await_manager(configuration, algorithms, log))) return kExitOk;
  boost::asio::io_context io(1);
  // First of all, for two reasons. No file may be touched before. And a descriptor that we open
  // might get the number of one that the manager should have opened and has not.
  auto opened = open_channel(io, configuration, log);
  if (!opened) return std::unexpected(read ? opened.error() : read.error());
  ReadAhead channel(io, **opened, configuration.limits.queue);
  channel.open();
  // Up to here a signal ends this process at once, as any other: no file was touched, and a plug-in
  // may take minutes to say what it offers.
  if (read) read = add_plugins(configuration, algorithms, log.named("plugin"));
  boost::asio::signal_set signals(io, SIGTERM, SIGINT);
  auto give_up = [&](ExitCode code, const Error& error) {
    return refuse(io, signals, channel, configuration.capabilities, code, error.message, log);
  };
  if (!read) return give_up(kExitConfiguration, read.error());
  const SystemClock clock;
  Opening opening(io, signals, channel, configuration, algorithms, real_files(), clock, log);
  auto beginning = opening.run();
  if (!beginning) {
    int code = kExitOk;
    if (opening.ended()) {
      log.warning("{}", beginning.error().message);
      leave(io, signals, channel, log);
      code = *opening.ended();
    } else {
      code = give_up(opening.signalled() ? kExitOk : kExitConfiguration, beginning.error());
    }
    log.flush();
    if (opening.stuck()) ::_exit(code);
    return code;
  }
  for (const auto& note : configuration.notes) log.info("{}", note);
  const auto server = Server::make(io, signals, channel, configuration, real_files(), clock,
                                   *std::move(beginning), log);
  if (!server) return give_up(kExitConfiguration, server.error());
  return (*server)->run();
}

}  // namespace

int run_daemon(int argc, char** argv, const Algorithms& algorithms, std::uint64_t entropy) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like a full disk
  Options options;
  const auto read = read_options(argc, argv, read_environment(), entropy, options);
  if (!read) {
    std::fputs(read.error().text.c_str(), read.error().exit_code == 0 ? stdout : stderr);
    return read.error().exit_code;
  }
  if (options.run == Options::Run::journal) {
    return run_journal_command(real_files(), options.journal, stdout, stderr);
  }
  if (options.run == Options::Run::check_plugin) {
    return run_check_plugin(options.check_plugin, stdout, stderr);
  }
  if (options.run == Options::Run::list) {
    Algorithms all = algorithms;
    if (const auto added = add_plugins(options.configuration, all, Log()); !added) {
      std::fprintf(stderr, "attuned: %s\n", terminal_line(added.error().message).c_str());
      return kExitConfiguration;
    }
    const auto& [tuners, assessors] = all;
    const std::string text = options.as_json ? list_as_json(tuners, assessors).dump(2) + "\n"
                                             : list_as_text(tuners, assessors);
    std::fputs(text.c_str(), stdout);
    return kExitOk;
  }
  if (options.run == Options::Run::check) {
    Algorithms all = algorithms;
    Result<void> ready = *read;
    if (ready) ready = add_plugins(options.configuration, all, Log());
    return run_check_command(options.configuration, ready, all, stdin, stdout);
  }
  auto log = open_log(options.configuration);
  if (!log) {
    std::fprintf(stderr, "attuned: %s\n", log.error().message.c_str());
    return kExitConfiguration;
  }
  if (options.run == Options::Run::print_config && *read) {
    std::fputs((print_config(options.configuration).dump(2) + "\n").c_str(), stdout);
    return kExitOk;
  }
  const Result<int> code =
      options.run == Options::Run::print_config
          ? std::unexpected(read->error())
          : serve(options.configuration, *read, algorithms, log->named("daemon"));
  if (!code) {
    log->named("daemon").error("{}", code.error().message);
    return kExitConfiguration;
  }
  return *code;
}

}  // namespace attune
