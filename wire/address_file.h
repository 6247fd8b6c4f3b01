#pragma once
// Where a coordinator listens, for those who share a directory with it:
// {"address": "HOST:PORT", "token": "..."}. Whoever reads it runs what that coordinator says, and
// whoever knows the token may say it: it belongs to one user, and nobody else may open it.
#include <string>

#include "base/result.h"

namespace attune {

struct WireAddress {
  std::string address;  // HOST:PORT, port not 0
  std::string token;

  bool operator==(const WireAddress&) const = default;
};

// Whole or not at all, mode 0600.
Result<void> write_address_file(const std::string& path, const WireAddress& address);
// Errors name the path, and say what is wrong with it: missing, not ours, open to others, not what
// is expected.
Result<WireAddress> read_address_file(const std::string& path);

}  // namespace attune
