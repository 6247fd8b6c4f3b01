#include "os/program_path.h"

#include <unistd.h>

#include <algorithm>

namespace attune {

bool is_program(const std::filesystem::path& path) {
  std::error_code error;
  return ::access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path, error);
}

std::optional<std::filesystem::path> find_in_path(const std::string& name,
                                                  const std::string& path) {
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const auto candidate = std::filesystem::path(path.substr(at, end - at)) / name;
    if (is_program(candidate)) return std::filesystem::absolute(candidate);
    at = end + 1;
  }
  return std::nullopt;
}

}  // namespace attune
