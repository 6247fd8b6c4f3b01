#include "runner/dial_address.h"

#include <fmt/format.h>

#include <filesystem>

#include "wire/address_file.h"

namespace attune {

namespace fs = std::filesystem;

Result<DialerOptions> dial_options(const std::string& join, const char* role, const char* file,
                                   const std::string& secret_file) {
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
  if (secret_file.empty())
    return fail(
        fmt::format("--join HOST:PORT needs --secret-file; or give --join the file {} of "
                    "the coordinator's folder, which holds both",
                    file));
  // The secret of the coordinator's next life is in the file then, too: it is read for each try.
  TRY(read_secret_file(secret_file, role));
  dial.address = join;
  dial.secret_file = secret_file;
  return dial;
}

}  // namespace attune
