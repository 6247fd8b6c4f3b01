#include "backends/local/machine.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/trimmed.h"
#include "os/atomic_file.h"
#include "os/process.h"
#include "os/unique_fd.h"

namespace attune {
namespace {

constexpr int kGpuMilliseconds = 10'000;

// The content of a file of this process's cgroup, version 2 or 1; nothing if there is none.
std::optional<std::string> cgroup_file(const std::string& v2_name, const std::string& controller,
                                       const std::string& v1_name) {
  const auto groups = read_file("/proc/self/cgroup");
  if (!groups) return std::nullopt;
  for (std::size_t at = 0; at < groups->size();) {
    const std::size_t end = std::min(groups->find('\n', at), groups->size());
    const std::string line = groups->substr(at, end - at);  // "ID:CONTROLLERS:PATH"
    at = end + 1;
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    const std::string file = controllers.empty() ? "/sys/fs/cgroup" + path + "/" + v2_name
                             : controllers == controller
                                 ? "/sys/fs/cgroup/" + controller + path + "/" + v1_name
                                 : "";
    if (file.empty()) continue;
    if (auto text = read_file(file)) return *text;
  }
  return std::nullopt;
}

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || value <= 0) return std::nullopt;
  return value;
}

enum class DeviceKind { none, number, name };

DeviceKind kind_of(std::string_view device) {
  const auto all = [device](std::string_view more) {
    return std::ranges::all_of(device, [more](unsigned char c) {
      return std::isdigit(c) != 0 ||
             (!more.empty() && (std::isalpha(c) != 0 || more.find(c) != more.npos));
    });
  };
  if (device.empty()) return DeviceKind::none;
  if (all("")) return DeviceKind::number;
  // "MIG-GPU-<uuid>/1/0" was the name of a part before R470.
  const bool name = device.starts_with("GPU-") || device.starts_with("MIG-");
  return name && all("-/") ? DeviceKind::name : DeviceKind::none;
}

// Reads the list as CUDA does: the first entry that is no device, such as -1, hides itself and all
// that follow. An entry of another kind than the first does the same: it is better to use a device
// too few than one of another user.
std::vector<GpuName> devices_of(std::string_view list) {
  std::vector<GpuName> devices;
  DeviceKind first = DeviceKind::none;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const std::string_view device = trimmed(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    const DeviceKind kind = kind_of(device);
    if (devices.empty()) first = kind;
    if (kind == DeviceKind::none || kind != first) break;
    if (std::ranges::find(devices, device) == devices.end()) devices.emplace_back(device);
  }
  return devices;
}

std::optional<std::vector<GpuName>> listed_devices(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "CUDA_VISIBLE_DEVICES=";
  for (const std::string& variable : environment) {
    if (variable.starts_with(kName))
      return devices_of(std::string_view(variable).substr(kName.size()));
  }
  return std::nullopt;
}

// Runs a program, given by its path or its name in PATH, and returns its standard output. Empty if
// the program does not exist, nothing if it fails.
Result<std::optional<std::string>> output_of(const std::string& program,
                                             const std::vector<std::string>& environment) {
  const UniqueFd output(::memfd_create("output", MFD_CLOEXEC));
  if (!output) return fail(fmt::format("memfd_create: {}", strerror(errno)));
  ProcessSpec spec;
  spec.arguments = {"/bin/sh", "-c", R"(command -v "$1" > /dev/null || exit 0; exec "$1" -L)", "sh",
                    program};
  spec.environment = environment;
  spec.directory = "/";
  spec.descriptors = {{1, output.get()}};
  const SpawnedProcess process = TRY(spawn_process(spec));
  pollfd waited{process.pidfd.get(), POLLIN, 0};
  const bool ended = ::poll(&waited, 1, kGpuMilliseconds) == 1;
  if (!ended) ::kill(-process.pid, SIGKILL);
  int status = 0;
  ::waitpid(process.pid, &status, 0);
  if (!ended) return fail(fmt::format("{} -L does not answer", program));
  if (status != 0) return std::nullopt;
  std::string text(64 << 10, '\0');
  const ssize_t size = ::pread(output.get(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

}  // namespace

double usable_cores() {
  cpu_set_t set;
  double cores = 1;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
  const auto quota = cgroup_file("cpu.max", "cpu", "cpu.cfs_quota_us");
  if (!quota) return cores;
  const auto allowed = number(*quota);  // "max ..." and -1 are no limit
  const std::size_t blank = quota->find(' ');
  auto period = blank != std::string::npos ? number(quota->substr(blank)) : std::nullopt;
  if (!period) {
    if (const auto text = cgroup_file("cpu.max", "cpu", "cpu.cfs_period_us"))
      period = number(*text);
  }
  return allowed && period ? std::min(cores, *allowed / *period) : cores;
}

double usable_memory() {
  const double all =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  const auto text = cgroup_file("memory.max", "memory", "memory.limit_in_bytes");
  const auto limit = text ? number(*text) : std::nullopt;
  return limit ? std::min(all, *limit) : all;
}

Result<std::vector<GpuName>> find_gpus(const std::vector<std::string>& environment,
                                       const std::string& program) {
  if (auto listed = listed_devices(environment)) return *listed;
  const std::optional<std::string> output = TRY(output_of(program, environment));
  std::vector<GpuName> devices;
  if (!output) return devices;
  for (std::size_t at = 0; at < output->size();) {
    const std::size_t end = std::min(output->find('\n', at), output->size());
    // "GPU 0: NVIDIA A100 (UUID: ...)"; parts of a device (MIG) are indented.
    if (output->compare(at, 4, "GPU ") == 0) devices.push_back(fmt::format("{}", devices.size()));
    at = end + 1;
  }
  return devices;
}

rlim_t raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return before;
}

}  // namespace attune
