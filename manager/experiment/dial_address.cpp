#include "manager/experiment/dial_address.h"

#include <fmt/format.h>

#include "cluster/pool/roles.h"
#include "wire/address_file.h"

namespace attune {

namespace fs = std::filesystem;

Result<void> check_role(const fs::path& file, std::string_view role) {
  const WireAddress found = TRY(read_address_file(file.string()));
  if (found.role == role) return {};
  return fail(fmt::format("{} is for the role {}; what is wanted is the file of the role {}: {}",
                          file.string(), found.role, role,
                          role_file(file.parent_path(), role).string()));
}

Result<DialerOptions> dial_options(const std::string& join, const std::string& secret_file,
                                   std::string_view role) {
  DialerOptions dial;
  std::error_code none;
  if (fs::exists(join, none) || join.find('/') != std::string::npos ||
      join.find(':') == std::string::npos) {
    const fs::path file = fs::absolute(role_file_of(join, role));
    if (fs::exists(file, none)) {
      // A file that cannot be read or trusted is no error here: the dialer reads it again at each
      // try, and somebody may correct its owner or mode until then.
      if (const auto found = read_address_file(file.string()); found) TRY(check_role(file, role));
    }
    dial.file = file.string();
    return dial;
  }
  if (secret_file.empty())
    return fail(
        fmt::format("--join HOST:PORT needs --secret-file; or give --join the folder of the "
                    "coordinator, whose {} has both",
                    role_file("", role).string()));
  dial.address = join;
  dial.secret_file = fs::absolute(secret_file).string();
  if (const auto read = read_secret_file(dial.secret_file, std::string(role)); !read)
    return fail(fmt::format("{}; what is wanted is the secret of {} in the coordinator's folder",
                            read.error().message, role_file("", role).string()));
  return dial;
}

}  // namespace attune
