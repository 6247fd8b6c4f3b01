#include "runner/dial_address.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/trust.h"
#include "coordinator/server/server.h"

namespace attune {

namespace fs = std::filesystem;

Result<DialerOptions> dial_options(const std::string& join, const std::string& token_file) {
  DialerOptions dial;
  std::error_code none;
  fs::path path = join;
  const bool exists = fs::exists(path, none);
  if (exists || join.find('/') != std::string::npos || join.find(':') == std::string::npos) {
    // What is not there yet will be a folder, unless it has the name of a file.
    if (exists ? fs::is_directory(path, none) : path.extension() != ".json") path /= kAddressFile;
    dial.file = fs::absolute(path).string();
    return dial;
  }
  if (token_file.empty())
    return fail(
        "--join HOST:PORT needs --token-file; or give --join the file coordinator.json of "
        "the coordinator's folder, which holds both");
  dial.address = join;
  dial.token = TRY(read_trusted_file(token_file, 4096));
  while (!dial.token.empty() && (dial.token.back() == '\n' || dial.token.back() == '\r'))
    dial.token.pop_back();
  if (dial.token.empty())
    return fail(
        fmt::format("{}: no token is in it; coordinator.json of the coordinator's folder "
                    "has it",
                    token_file));
  return dial;
}

}  // namespace attune
