#include "backends/shim/oom.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <string_view>

namespace attune::shim {
namespace {

std::string read_text(const std::string& path) {
  std::string text;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = ::read(fd, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<std::size_t>(size));
  }
  ::close(fd);
  return text;
}

// The rest of the line that begins with `beginning`.
std::string line_after(const std::string& text, std::string_view beginning) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.starts_with(beginning)) return std::string(line.substr(beginning.size()));
    at = end + 1;
  }
  return {};
}

}  // namespace

std::string oom_file(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  const std::string groups = read_text("/proc/self/cgroup");  // "ID:CONTROLLERS:PATH" lines
  std::string v2 = "/sys/fs/cgroup" + line_after(groups, "0::") + "/memory.events";
  if (::access(v2.c_str(), R_OK) == 0) return v2;
  const std::size_t at = groups.find(":memory:");
  if (at != std::string::npos) {
    const std::size_t path = at + 8;
    std::string v1 = "/sys/fs/cgroup/memory" + groups.substr(path, groups.find('\n', path) - path) +
                     "/memory.oom_control";
    if (::access(v1.c_str(), R_OK) == 0) return v1;
  }
  return "/proc/vmstat";
}

std::uint64_t oom_kills(const std::string& file) {
  return ::strtoull(line_after(read_text(file), "oom_kill ").c_str(), nullptr, 10);
}

}  // namespace attune::shim
