#pragma once
// Finds out from the options --join and --secret-file how to connect to a coordinator.
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/dialer.h"

namespace attune {

// `join`: the folder of a coordinator, which holds an address file for each role; or one of these
// files; or HOST:PORT. With HOST:PORT, `secret_file` is needed: an address file of the role, or a
// file with nothing but its secret. A file that does not exist yet is no error.
Result<DialerOptions> dial_options(const std::string& join, const std::string& secret_file,
                                   std::string_view role);

// Checks that an existing address file can be read and trusted, and is for the role. If it is for
// another role, the error names the right file.
Result<void> check_role(const std::filesystem::path& file, std::string_view role);

}  // namespace attune
