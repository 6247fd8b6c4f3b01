#include "backends/leftovers.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 forgets to say so itself
}

#include <charconv>
#include <cstdlib>
#include <string>

#include "base/atomic_file.h"
#include "base/directory_entries.h"
#include "base/unique_fd.h"

namespace attune {
namespace {

// A process that forks while /proc is read may be missed; a second look finds its child.
constexpr int kRounds = 10;

bool has_variable(const std::string& environment, const std::string& variable) {
  const std::string bounded = '\0' + variable + '\0';
  return ('\0' + environment).find(bounded) != std::string::npos;
}

std::string environment_of(pid_t pid) {
  return read_file(fmt::format("/proc/{}/environ", pid)).value_or("");
}

}  // namespace

std::uint64_t process_start_time(pid_t pid) {
  const std::string text = read_file(fmt::format("/proc/{}/stat", pid)).value_or("");
  // The name, in parentheses, may hold anything; the start time is field 22, the name field 2.
  std::size_t at = text.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at, nullptr, 10);
}

bool kill_leftovers(const std::filesystem::path& folder, int attempt, const AttemptFacts& facts) {
  const std::string boot = read_file("/proc/sys/kernel/random/boot_id").value_or("\n");
  // Nothing survives a reboot. A spool that is gone does not say which one it was.
  if (!facts.boot.empty() && facts.boot != boot.substr(0, boot.find('\n'))) return false;
  bool any = false;
  if (facts.command && facts.command->pid > 1 &&
      process_start_time(facts.command->pid) == facts.command->start) {
    any = ::kill(-facts.command->pid, SIGKILL) == 0;
  }
  const std::string where = "NNI_SYS_DIR=" + folder.string();
  const std::string which = fmt::format("ATTUNE_ATTEMPT={}", attempt);
  for (int round = 0; round < kRounds; ++round) {
    bool found = false;
    for (const auto& entry : entries_of("/proc")) {
      const std::string name = entry.filename().string();
      pid_t pid = 0;
      std::from_chars(name.data(), name.data() + name.size(), pid);
      if (pid <= 1 || pid == ::getpid()) continue;
      // Opened first: what is read and what is killed is then the same process, or none.
      const UniqueFd process(::pidfd_open(pid, 0));
      const std::string environment = environment_of(pid);
      if (!process || !has_variable(environment, where) || !has_variable(environment, which)) {
        continue;
      }
      found |= ::pidfd_send_signal(process.get(), SIGKILL, nullptr, 0) == 0;
    }
    if (!found) break;
    any = true;
  }
  return any;
}

}  // namespace attune
