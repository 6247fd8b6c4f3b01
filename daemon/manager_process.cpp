#include "daemon/manager_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace attune {
namespace {

std::string read(pid_t process, const char* name) {
  std::ifstream file(fmt::format("/proc/{}/{}", process, name));
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_launcher(pid_t process) {
  const std::string line = read(process, "cmdline");
  return line.contains("--exp_params") || line.contains("--exp-params");
}

// 0: there is none, or it cannot be told.
pid_t parent_of(pid_t process) {
  const std::string status = read(process, "status");
  const std::string key = "\nPPid:\t";
  const std::size_t at = status.find(key);
  return at == status.npos ? 0 : static_cast<pid_t>(std::atol(status.c_str() + at + key.size()));
}

}  // namespace

UniqueFd find_manager() {
  pid_t process = ::getpid();
  bool launched = is_launcher(process);
  while (true) {
    const pid_t parent = parent_of(process);
    if (parent <= 1) return {};  // whoever started this has ended
    if (is_launcher(parent)) {
      launched = true;
      process = parent;
      continue;
    }
    if (!launched) return {};
    // glibc 2.36 declares pidfd_open without C linkage.
    UniqueFd opened(static_cast<int>(::syscall(SYS_pidfd_open, parent, 0)));
    // The number may belong to another process by now, but not if this child still has that parent.
    if (parent_of(process) != parent) return {};
    return opened;
  }
}

ManagerProcess::ManagerProcess(boost::asio::io_context& io, UniqueFd pidfd) : pidfd_(io) {
  if (pidfd) pidfd_.assign(pidfd.release());
}

bool ManagerProcess::has_ended() {
  if (!pidfd_.is_open()) return false;
  pollfd entry{pidfd_.native_handle(), POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

void ManagerProcess::await_end(std::function<void()> ended) {
  if (!pidfd_.is_open()) return;
  pidfd_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [ended = std::move(ended)](const boost::system::error_code& error) {
                      if (!error) ended();
                    });
}

}  // namespace attune
