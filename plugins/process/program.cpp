#include "plugins/process/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <iterator>
#include <optional>

#include "base/terminal_text.h"
#include "os/process.h"

namespace attune {
namespace {

// For a program that has been asked to end; for one that has closed a pipe, which usually means
// that it is about to end; for a supervisor that has to kill.
constexpr double kExitSeconds = 1, kGoneSeconds = 2, kKillSeconds = 10;
constexpr std::size_t kShown = 200;  // bytes of a wrong line in a message

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(fmt::format("pipe: {}", strerror(errno)));
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// Only of our end: the program's end is another open file, and stays as programs expect it.
void set_non_blocking(const UniqueFd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

// Rounded up, so that nobody spins in the last millisecond.
int milliseconds(double seconds) {
  return static_cast<int>(std::ceil(std::clamp(seconds, 0.0, 1e6) * 1000));
}

std::string shown(std::string_view line) {
  const std::string text = terminal_line(line.substr(0, kShown));
  return line.size() > kShown ? fmt::format("\"{}\"... ({} bytes)", text, line.size())
                              : fmt::format("\"{}\"", text);
}

std::vector<std::string> environment_of(const ProcessPluginSpec& spec) {
  std::vector<std::string> inherited;
  for (char** entry = environ; *entry != nullptr; ++entry) inherited.emplace_back(*entry);
  return child_environment(inherited, spec.environment);
}

}  // namespace

Program::Program(const ProcessPluginSpec& spec, const Clock& clock, Log log)
    : spec_(spec), clock_(clock), log_(std::move(log)) {}

Program::~Program() {
  if (!running()) return;
  // It may ignore the request, and just see the end of its input.
  (void)!::write(in_.get(), "{\"op\":\"exit\"}\n", 14);
  in_.reset();
  await_end(kExitSeconds);
  kill();
}

Result<void> Program::start() {
  kill();
  Pipe in = TRY(make_pipe()), out = TRY(make_pipe()), err = TRY(make_pipe());
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return fail(fmt::format("socketpair: {}", strerror(errno)));
  UniqueFd ours(sockets[0]);
  const UniqueFd theirs(sockets[1]);
  set_non_blocking(in.write);
  set_non_blocking(out.read);
  set_non_blocking(err.read);
  ProcessSpec process;
  process.arguments = {spec_.supervisor.string(), kSupervisorCommand};
  process.arguments.insert(process.arguments.end(), spec_.command.begin(), spec_.command.end());
  process.environment = environment_of(spec_);
  process.directory = spec_.directory;
  process.descriptors = {{0, in.read.get()},
                         {1, out.write.get()},
                         {2, err.write.get()},
                         {kSupervisorSocket, theirs.get()}};
  process.detached = true;  // a signal to our group must not end the supervisor before its work
  auto log = TRY(StderrLog::start(std::move(err.read), command_text(spec_), log_));
  SpawnedProcess spawned = TRY(spawn_process(process));
  stderr_ = std::move(log);
  pid_ = spawned.pid;
  pidfd_ = std::move(spawned.pidfd);
  socket_ = std::move(ours);
  in_ = std::move(in.write);
  out_ = std::move(out.read);
  end_ = {};
  return {};
}

Result<std::string> Program::exchange(const std::string& line, std::size_t most) {
  if (!running()) return fail("it does not run");
  const double deadline = clock_.now() + spec_.timeout;
  std::string_view unwritten = line;
  std::string answer;
  std::array<char, 65536> bytes;
  while (true) {
    // Reads before it writes: what is there before it has written all was not asked for.
    const ssize_t size = ::read(out_.get(), bytes.data(), bytes.size());
    if (size == 0) return gone("stdout");
    if (size > 0) {
      const std::string_view fresh(bytes.data(), static_cast<std::size_t>(size));
      if (!unwritten.empty()) return unasked(fresh);
      const std::size_t end = fresh.find('\n');
      answer += fresh.substr(0, end);
      if (answer.size() > most)
        return refuse(fmt::format("its answer has more than {} bytes: {}", most, shown(answer)));
      if (end == fresh.npos) continue;
      if (end + 1 < fresh.size()) return unasked(fresh.substr(end + 1));
      return answer;
    }
    if (!unwritten.empty()) {
      const ssize_t part = ::write(in_.get(), unwritten.data(), unwritten.size());
      if (part < 0 && errno == EPIPE) return gone("stdin");
      if (part > 0) unwritten.remove_prefix(static_cast<std::size_t>(part));
    }
    const double left = deadline - clock_.now();
    if (left <= 0) {
      return refuse(fmt::format("it has not {} within {} s",
                                unwritten.empty() ? "answered" : "read the request",
                                spec_.timeout));
    }
    pollfd waited[] = {{out_.get(), POLLIN, 0}, {in_.get(), POLLOUT, 0}};
    ::poll(waited, unwritten.empty() ? 1 : 2, milliseconds(left));
  }
}

void Program::kill() {
  if (!running()) return;
  in_.reset();
  out_.reset();
  ::shutdown(socket_.get(), SHUT_WR);
  // A supervisor that cannot end what it has started, because the kernel holds it, is left behind
  // with it: it goes on trying.
  pollfd waited{pidfd_.get(), POLLIN, 0};
  if (::poll(&waited, 1, milliseconds(kKillSeconds)) == 1) {
    ::waitpid(pid_, nullptr, 0);
  } else {
    log_.warning("{}: process {} does not end, and is left behind", command_text(spec_), pid_);
  }
  pid_ = 0;
  socket_.reset();
  pidfd_.reset();
  stderr_->finish();
}

bool Program::await_end(double seconds) {
  pollfd waited{socket_.get(), POLLIN, 0};
  return ::poll(&waited, 1, milliseconds(seconds)) == 1 &&
         ::recv(socket_.get(), &end_, sizeof end_, MSG_DONTWAIT) == sizeof end_;
}

std::unexpected<Error> Program::refuse(std::string what) {
  kill();
  return fail(std::move(what));
}

std::unexpected<Error> Program::unasked(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  return refuse(fmt::format("it has written to stdout what nobody had asked for: {}", shown(line)));
}

std::unexpected<Error> Program::gone(std::string_view which) {
  const bool ended = await_end(kGoneSeconds);
  kill();
  if (end_.error != 0) return fail(fmt::format("it cannot be started: {}", strerror(end_.error)));
  std::string what =
      ended ? fmt::format("it has ended: {}",
                          to_text(ExitStatus{.code = end_.code, .signal = end_.signal}))
            : fmt::format("it has closed its {}", which);
  if (const std::string& last = stderr_->last_line(); !last.empty())
    what += fmt::format("; its last line on stderr: {}", shown(last));
  return fail(std::move(what));
}

}  // namespace attune
