#pragma once
// Where a coordinator is, as people say it on the command line.
#include <string>

#include "base/result.h"
#include "wire/dialer.h"

namespace attune {

// `join`: HOST:PORT, which needs a file with the token; or the file of an address, or the folder of
// a coordinator, which has one.
Result<DialerOptions> dial_options(const std::string& join, const std::string& token_file);

}  // namespace attune
