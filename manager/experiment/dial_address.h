#pragma once
// Where a coordinator is, as people say it on the command line.
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/dialer.h"

namespace attune {

// `join`: the folder of a coordinator, which has a file for each role; or such a file; or
// HOST:PORT, which needs a file with the secret of the role: one of those, or the secret alone.
Result<DialerOptions> dial_options(const std::string& join, const std::string& secret_file,
                                   std::string_view role);

// Whether a file of a coordinator's folder, which is there, can be used and is for the role. The
// error names the one that is.
Result<void> check_role(const std::filesystem::path& file, std::string_view role);

}  // namespace attune
