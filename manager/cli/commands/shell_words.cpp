#include "manager/cli/commands/shell_words.h"

#include <algorithm>

#include "manager/cli/options.h"

namespace attune {

namespace fs = std::filesystem;

std::string shell_word(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.+/:,@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string experiment_words(const fs::path& directory, const std::string& id, bool positional) {
  std::error_code error;
  const fs::path usual = fs::absolute(ExperimentChoice().directory, error).lexically_normal();
  if (!error && directory == usual / id) return positional ? id : "-e " + id;
  return "--dir " + shell_word(directory.string());
}

}  // namespace attune
