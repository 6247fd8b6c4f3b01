#include "tests/support/daemon_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/base64.h"
#include "tests/support/deadline.h"

extern char** environ;

namespace attune {
namespace {

using std::chrono::milliseconds;

bool wait_for(int fd, short events, milliseconds timeout) {
  pollfd entry{fd, events, 0};
  return ::poll(&entry, 1, static_cast<int>(timeout.count())) > 0;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

DaemonProcess::DaemonProcess(std::vector<std::string> arguments,
                             std::map<std::string, std::string> environment,
                             const std::string& program) {
  ::signal(SIGPIPE, SIG_IGN);
  std::string name = std::filesystem::temp_directory_path() / "attuned-test-XXXXXX";
  if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
  directory_ = name;
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) || ::pipe2(out, O_CLOEXEC)) throw std::runtime_error("pipe");

  environment.try_emplace("NNI_LOG_DIRECTORY", directory_);
  std::vector<std::string> variables;
  for (char** entry = environ; *entry; ++entry) {
    if (!std::string_view(*entry).starts_with("NNI_")) variables.emplace_back(*entry);
  }
  for (const auto& [key, value] : environment) variables.push_back(key + "=" + value);
  arguments.insert(arguments.begin(), program);

  const std::string diagnostics = directory_ + "/stdio.txt";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, diagnostics.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  // Through numbers that are surely free: 3 and 4 may be ends of these very pipes.
  posix_spawn_file_actions_adddup2(&actions, in[0], 198);
  posix_spawn_file_actions_adddup2(&actions, out[1], 199);
  posix_spawn_file_actions_adddup2(&actions, 198, 3);
  posix_spawn_file_actions_adddup2(&actions, 199, 4);
  posix_spawn_file_actions_addclosefrom_np(&actions, 5);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int error = ::posix_spawn(&pid_, program.c_str(), &actions, &attributes,
                                  pointers(arguments).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (error) throw std::runtime_error(std::strerror(error));
  ::fcntl(to_, F_SETFL, O_NONBLOCK);
  // glibc 2.36 declares pidfd_open without C linkage.
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
}

DaemonProcess::~DaemonProcess() {
  if (!exit_code_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const int fd : {to_, from_, pidfd_}) {
    if (fd >= 0) ::close(fd);
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::vector<std::string> DaemonProcess::exp_params(json experiment) {
  experiment["capabilities"].push_back("sync");
  return {"--exp_params", base64_encode(dump_json(experiment))};
}

void DaemonProcess::connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(made, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    const std::string why = std::strerror(errno);
    ::close(made);
    throw std::runtime_error("connecting to " + path + ": " + why);
  }
  ::close(to_);
  ::close(from_);
  to_ = made;
  from_ = ::fcntl(made, F_DUPFD_CLOEXEC, 0);
  ::fcntl(to_, F_SETFL, O_NONBLOCK);
}

std::size_t DaemonProcess::write_some(const std::string& bytes, milliseconds patience) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(to_, bytes.data() + done, bytes.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EAGAIN || !wait_for(to_, POLLOUT, patience)) {
      break;
    }
  }
  return done;
}

void DaemonProcess::write(const std::string& bytes) {
  if (write_some(bytes, kDeadline) < bytes.size()) {
    throw std::runtime_error("the daemon does not read: " + diagnostics());
  }
}

void DaemonProcess::send(const std::string& code, const std::string& payload) {
  std::string bytes;
  if (!encode_frame(Frame{code, payload}, Framing{}, bytes)) throw std::runtime_error("too large");
  write(bytes);
}

std::optional<Frame> DaemonProcess::receive() {
  while (true) {
    auto frame = decoder_.next();
    if (!frame) throw std::runtime_error(frame.error().message);
    if (*frame) return **frame;
    if (!wait_for(from_, POLLIN, kDeadline)) {
      throw std::runtime_error("no answer: " + diagnostics() + log());
    }
    char buffer[65536];
    const ssize_t n = ::read(from_, buffer, sizeof buffer);
    if (n <= 0) return std::nullopt;
    decoder_.feed(std::string_view(buffer, static_cast<std::size_t>(n)));
  }
}

void DaemonProcess::close_in() {
  ::shutdown(to_, SHUT_WR);  // a socket would stay open with the other end
  ::close(to_);
  to_ = -1;
}

void DaemonProcess::close_out() {
  ::close(from_);
  from_ = -1;
}

void DaemonProcess::signal(int number) { ::kill(pid_, number); }

int DaemonProcess::wait() {
  if (!exit_code_) {
    if (!wait_for(pidfd_, POLLIN, kDeadline)) {
      throw std::runtime_error("the daemon does not exit: " + log());
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return *exit_code_;
}

std::string DaemonProcess::read_file(const std::string& name) const {
  std::ifstream file(directory_ + "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string DaemonProcess::log() const { return read_file("dispatcher.log"); }
std::string DaemonProcess::diagnostics() const { return read_file("stdio.txt"); }

}  // namespace attune
