// The program attune, which runs tuning experiments. Only this source asks the system for what a
// command must know of its surroundings (Surroundings, Console).
#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <random>

#include "base/terminal_text.h"
#include "manager/app/pool_commands.h"
#include "manager/app/run_command.h"
#include "manager/cli/commands/adopt.h"
#include "manager/cli/commands/changes.h"
#include "manager/cli/commands/requests.h"
#include "manager/cli/commands/views.h"
#include "manager/cli/options.h"
#include "manager/mcp/mcp_server.h"
#include "os/clock.h"
#include "os/standard_output.h"

namespace attune {
namespace {

std::string environment_text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Surroundings find_surroundings() {
  Surroundings found;
  for (char** variable = environ; *variable != nullptr; ++variable)
    found.environment.emplace_back(*variable);
  std::error_code ignored;
  found.program_folder =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
  std::random_device device;
  found.entropy = (std::uint64_t{device()} << 32) | device();
  found.terminal = ::isatty(STDERR_FILENO) == 1 && environment_text("TERM") != "dumb";
  found.ansi = environment_text("NO_COLOR").empty();
  return found;
}

Console find_console() {
  Console console;
  winsize size = {};
  if (::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
    console.width = size.ws_col;
  if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1) console.in = stdin;
  console.now = SystemClock().wall();
  return console;
}

// Before the session handles signals, they end the program with the exit code that the session
// would give: a script must not see another code only because its signal came early.
void heed_early_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction present = {};
    if (::sigaction(number, nullptr, &present) == 0 && present.sa_handler == SIG_DFL)
      ::signal(number, [](int) { ::_exit(kExitInterrupted); });
  }
}

// Runs the command. An error of a command that only looks or asks gives exit code 1; one of a
// command that runs something means wrong input, and gives 2.
int execute(const CommandOptions& options) {
  const Surroundings surroundings = find_surroundings();
  const Console console = find_console();
  int error_code = kExitUsage;
  const auto run = [&](const auto& o) -> Result<int> {
    if constexpr (requires { run_experiment(o, surroundings); }) {
      heed_early_signals();
      return run_experiment(o, surroundings);
    } else if constexpr (requires { resume_experiment(o, surroundings); }) {
      heed_early_signals();
      return resume_experiment(o, surroundings);
    } else if constexpr (requires { run_coordinator(o, surroundings); }) {
      return run_coordinator(o, surroundings);
    } else if constexpr (requires { run_worker(o, surroundings); }) {
      return run_worker(o, surroundings);
    } else if constexpr (requires { show_pool(o, console, surroundings); }) {
      error_code = kExitFailed;
      return show_pool(o, console, surroundings);
    } else if constexpr (requires { serve_dashboard(o, surroundings); }) {
      return serve_dashboard(o, surroundings);
    } else if constexpr (requires { write_report(o); }) {
      error_code = kExitFailed;
      return write_report(o);
    } else if constexpr (requires { write_plot(o); }) {
      error_code = kExitFailed;
      return write_plot(o);
    } else if constexpr (requires { serve_mcp(o); }) {
      return serve_mcp(o);
    } else if constexpr (requires { simulate_experiment(o, surroundings); }) {
      return simulate_experiment(o, surroundings);
    } else {
      error_code = kExitFailed;
      if constexpr (requires { view(o, console); }) {
        return view(o, console);
      } else if constexpr (requires { change(o, console); }) {
        return change(o, console);
      } else if constexpr (requires { adopt(o, console); }) {
        return adopt(o, console);
      } else {
        return request(o, console);
      }
    }
  };
  const auto code = std::visit(run, options);
  if (code) return *code;
  put_text(stderr, fmt::format("attune: {}\n", terminal_text(code.error().message)));
  return error_code;
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  try {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN);  // of ulimit -f: the write then fails with EFBIG
    const auto options = attune::parse_command_line(argc, argv);
    if (!options) {
      std::fputs(attune::terminal_text(options.error().text).c_str(),
                 options.error().exit_code == 0 ? stdout : stderr);
      return attune::finish_output(options.error().exit_code, "attune");
    }
    return attune::finish_output(attune::execute(*options), "attune");
  } catch (const std::exception& error) {  // out of memory and the like
    std::fprintf(stderr, "attune: %s\n", error.what());
    return attune::kExitFailed;
  }
}
