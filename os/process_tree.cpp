#include "os/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace attune {
namespace {

struct Process {
  pid_t pid = 0, parent = 0;
  char state = '?';
  std::uint64_t start = 0;
};

bool read_process(pid_t pid, Process& process) {
  char path[40];
  ::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[1024];
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (size <= 0) return false;
  text[size] = '\0';
  // The name, in parentheses, may contain anything, parentheses too: look for the last one.
  const char* field = strrchr(text, ')');
  if (field == nullptr || ::strlen(field) < 4) return false;
  process.pid = pid;
  process.state = field[2];
  char* next = nullptr;
  process.parent = static_cast<pid_t>(::strtol(field + 3, &next, 10));
  for (int i = 5; i < 22; ++i) (void)::strtoll(next, &next, 10);
  process.start = ::strtoull(next, nullptr, 10);
  return true;
}

// Not from /proc/PID/task/*/children, because some kernels are built without it.
std::vector<Process> all_processes() {
  std::vector<Process> processes;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return processes;
  while (const dirent* entry = ::readdir(folder)) {
    Process process;
    const auto pid = static_cast<pid_t>(::atoi(entry->d_name));
    if (pid > 0 && read_process(pid, process)) processes.push_back(process);
  }
  ::closedir(folder);
  return processes;
}

}  // namespace

std::uint64_t start_time(pid_t pid) {
  Process process;
  return read_process(pid, process) ? process.start : 0;
}

Killing kill_descendants(pid_t ancestor) {
  const std::vector<Process> processes = all_processes();
  std::vector<pid_t> family{ancestor};
  Killing result;
  for (std::size_t i = 0; i < family.size(); ++i) {
    for (const Process& process : processes) {
      if (process.parent != family[i] || std::ranges::find(family, process.pid) != family.end()) {
        continue;
      }
      family.push_back(process.pid);
      if (process.state == 'Z' || process.state == 'X') continue;
      if (::kill(process.pid, SIGKILL) == 0) {
        ++result.killed;
      } else if (errno == EPERM) {
        ++result.forbidden;
      }
    }
  }
  return result;
}

}  // namespace attune
