#include "backends/leftovers.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 forgets to say so itself
}

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <string>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/directory_entries.h"
#include "base/unique_fd.h"

namespace attune {
namespace {

// A process that forks while /proc is read may be missed; a second look finds its child.
constexpr int kRounds = 10;
constexpr int kLooks = 500;  // a millisecond each

bool has_variable(const std::string& environment, const std::string& variable) {
  const std::string bounded = '\0' + variable + '\0';
  return ('\0' + environment).find(bounded) != std::string::npos;
}

// Numbers of /proc/PID/stat, counted from 1 as proc(5) does.
enum StatField { kStartTime = 22, kVirtualSize = 23, kEnvironmentStart = 50, kEnvironmentEnd = 51 };

std::string stat_of(pid_t pid) { return read_file(fmt::format("/proc/{}/stat", pid)).value_or(""); }

// 0 when it is not there.
std::uint64_t field_of(const std::string& stat, StatField wanted) {
  // The name, in parentheses, may hold anything; it is field 2.
  std::size_t at = stat.rfind(')');
  for (int field = 2; field < wanted && at != std::string::npos; ++field) {
    at = stat.find(' ', at + 1);
  }
  return at == std::string::npos ? 0 : std::strtoull(stat.c_str() + at, nullptr, 10);
}

// Nothing for a process that really has none (kernel threads, zombies, `env -i`). Between execve()
// and the start of the new program the kernel shows an empty environment, and nothing tells when
// that is over: the program may have to be read from a disk first. Hence the looks again, of which
// there are `looks` for all processes together: the event loop waits meanwhile.
std::string environment_of(pid_t pid, int& looks) {
  constexpr timespec kPause{0, 1'000'000};
  const std::string path = fmt::format("/proc/{}/environ", pid);
  while (true) {
    const Result<std::string> text = read_file(path);
    if (!text) return "";
    if (!text->empty()) return *text;
    const std::string stat = stat_of(pid);
    if (field_of(stat, kVirtualSize) == 0) return "";
    const std::uint64_t end = field_of(stat, kEnvironmentEnd);
    if (end != 0 && end == field_of(stat, kEnvironmentStart)) return "";
    if (looks-- <= 0) return "";
    if (end == 0) ::nanosleep(&kPause, nullptr);
  }
}

std::string boot_id() {
  const std::string boot = read_file("/proc/sys/kernel/random/boot_id").value_or("\n");
  return boot.substr(0, boot.find('\n'));
}

}  // namespace

std::uint64_t process_start_time(pid_t pid) { return field_of(stat_of(pid), kStartTime); }

std::optional<double> seconds_since_start(const AttemptFacts& facts) {
  if (!facts.shim || facts.shim->start == 0 || facts.boot != boot_id()) return std::nullopt;
  const double started =
      static_cast<double>(facts.shim->start) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return std::max(SystemClock().now() - started, 0.0);
}

bool kill_leftovers(const std::filesystem::path& folder, int attempt, const AttemptFacts& facts) {
  // Nothing survives a reboot. A spool that is gone does not say which one it was.
  if (!facts.boot.empty() && facts.boot != boot_id()) return false;
  bool any = false;
  if (facts.command && facts.command->pid > 1 &&
      process_start_time(facts.command->pid) == facts.command->start) {
    any = ::kill(-facts.command->pid, SIGKILL) == 0;
  }
  const std::string where = "NNI_SYS_DIR=" + folder.string();
  const std::string which = fmt::format("ATTUNE_ATTEMPT={}", attempt);
  int looks = kLooks;
  for (int round = 0; round < kRounds; ++round) {
    bool found = false;
    for (const auto& entry : entries_of("/proc")) {
      const std::string name = entry.filename().string();
      pid_t pid = 0;
      std::from_chars(name.data(), name.data() + name.size(), pid);
      if (pid <= 1 || pid == ::getpid()) continue;
      // Opened first: what is read and what is killed is then the same process, or none.
      const UniqueFd process(::pidfd_open(pid, 0));
      const std::string environment = environment_of(pid, looks);
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
