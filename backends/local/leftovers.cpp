#include "backends/local/leftovers.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 forgets to say so itself
}

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "os/atomic_file.h"
#include "os/clock.h"
#include "os/directory_entries.h"
#include "os/unique_fd.h"

namespace attune {
namespace {

// A process that forks while /proc is read may be missed; another round finds its child.
constexpr int kRounds = 10;
constexpr int kLooks = 50;  // with their pauses half a second

bool has_variable(const std::string& environment, const std::string& variable) {
  const std::string bounded = '\0' + variable + '\0';
  return ('\0' + environment).find(bounded) != std::string::npos;
}

// Fields of /proc/PID/stat, counted from 1 as in proc(5).
enum StatField { kStartTime = 22, kVirtualSize = 23, kEnvironmentStart = 50, kEnvironmentEnd = 51 };

std::string stat_of(pid_t pid) { return read_file(fmt::format("/proc/{}/stat", pid)).value_or(""); }

// The number in a field; 0 if it is missing.
std::uint64_t field_of(const std::string& stat, StatField wanted) {
  // Field 2 is the name in parentheses, which may contain anything, parentheses too.
  std::size_t at = stat.rfind(')');
  for (int field = 2; field < wanted && at != std::string::npos; ++field) {
    at = stat.find(' ', at + 1);
  }
  return at == std::string::npos ? 0 : std::strtoull(stat.c_str() + at, nullptr, 10);
}

struct Environment {
  std::string text;
  bool is_coming = false;  // between execve() and the start of the new program
};

// The environment of a process; empty if it has none (kernel threads, zombies, `env -i`).
Environment environment_of(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/environ", pid);
  while (true) {
    Result<std::string> text = read_file(path);
    if (!text) return {};
    if (!text->empty()) return {*std::move(text)};
    const std::string stat = stat_of(pid);
    if (field_of(stat, kVirtualSize) == 0) return {};
    const std::uint64_t end = field_of(stat, kEnvironmentEnd);
    if (end == 0) return {"", true};
    if (end == field_of(stat, kEnvironmentStart)) return {};
    // The environment appeared after the file was read: read again.
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

Leftovers::Leftovers(const std::filesystem::path& folder, int attempt, AttemptFacts facts)
    : where_("NNI_SYS_DIR=" + folder.string()),
      which_(fmt::format("ATTUNE_ATTEMPT={}", attempt)),
      facts_(std::move(facts)) {}

bool Leftovers::look() {
  // Nothing survives a reboot. If the spool is gone, the boot is unknown.
  if (!facts_.boot.empty() && facts_.boot != boot_id()) return false;
  if (facts_.command && facts_.command->pid > 1 &&
      process_start_time(facts_.command->pid) == facts_.command->start) {
    any_ |= ::kill(-facts_.command->pid, SIGKILL) == 0;
  }
  bool unclear = false;
  for (int round = 0; round < kRounds; ++round) {
    bool found = false;
    unclear = false;
    for (const auto& entry : entries_of("/proc")) {
      const std::string name = entry.filename().string();
      pid_t pid = 0;
      std::from_chars(name.data(), name.data() + name.size(), pid);
      if (pid <= 1 || pid == ::getpid()) continue;
      // Opened before reading, so that the process that is killed is the one that was read.
      const UniqueFd process(::pidfd_open(pid, 0));
      const Environment environment = environment_of(pid);
      unclear |= process && environment.is_coming;
      if (!process || !has_variable(environment.text, where_) ||
          !has_variable(environment.text, which_)) {
        continue;
      }
      found |= ::pidfd_send_signal(process.get(), SIGKILL, nullptr, 0) == 0;
    }
    if (!found) break;
    any_ = true;
  }
  return unclear && ++looks_ < kLooks;
}

bool kill_leftovers(const std::filesystem::path& folder, int attempt, const AttemptFacts& facts) {
  Leftovers leftovers(folder, attempt, facts);
  while (leftovers.look()) std::this_thread::sleep_for(Leftovers::kPause);
  return leftovers.any();
}

}  // namespace attune
