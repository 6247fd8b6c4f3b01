#include "runner/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace attune {

Result<void> make_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail(fmt::format("cannot make {}: {}", path.string(), error.message()));
  return {};
}

std::string last_lines(const std::filesystem::path& path, int count) {
  constexpr std::streamoff kMost = 4096;
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(0, std::ios::end);
  const std::streamoff size = stream.tellg();
  if (size <= 0) return "";
  std::string text(static_cast<std::size_t>(std::min(size, kMost)), '\0');
  stream.seekg(size - static_cast<std::streamoff>(text.size()));
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t at = text.size();
  for (int i = 0; i < count && at != 0 && at != std::string::npos; ++i)
    at = text.rfind('\n', at - 1);
  return at == std::string::npos || at == 0 ? text : text.substr(at + 1);
}

}  // namespace attune
