#pragma once
// Where a coordinator is, as people say it on the command line.
#include <string>

#include "base/result.h"
#include "wire/dialer.h"

namespace attune {

// `join`: HOST:PORT, which needs `secret_file`, a file with the secret of `role`
// (read_secret_file); or the file of an address, or the folder of a coordinator, which has one of
// the name `file`.
Result<DialerOptions> dial_options(const std::string& join, const char* role, const char* file,
                                   const std::string& secret_file);

}  // namespace attune
