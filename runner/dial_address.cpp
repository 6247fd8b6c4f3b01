#include "runner/dial_address.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/trust.h"

namespace attune {

namespace fs = std::filesystem;

Result<DialerOptions> dial_options(const std::string& join, const char* file,
                                   const std::string& token_file) {
  DialerOptions dial;
  std::error_code none;
  fs::path path = join;
  const bool exists = fs::exists(path, none);
  if (exists || join.find('/') != std::string::npos || join.find(':') == std::string::npos) {
    // What is not there yet will be a folder, unless it has the name of a file.
    if (exists ? fs::is_directory(path, none) : path.extension() != ".json") path /= file;
    dial.file = fs::absolute(path).string();
    return dial;
  }
  if (token_file.empty())
    return fail(
        fmt::format("--join HOST:PORT needs --token-file; or give --join the file {} of "
                    "the coordinator's folder, which holds both",
                    file));
  dial.address = join;
  std::string text = TRY(read_trusted_file(token_file, 4096));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const auto secret = Secret::parse(text);
  if (!secret)
    return fail(fmt::format("{}: no secret is in it: {}; {} of the coordinator's folder has it",
                            token_file, secret.error().message, file));
  dial.secret = *secret;
  return dial;
}

}  // namespace attune
