#pragma once
// Where a coordinator listens, for those who share a directory with it and have one role there:
// {"address": "HOST:PORT", "role": "worker", "secret": "<64 hexadecimal digits>"}. Whoever knows
// the secret may do what the role may, and may say to others of that role what the coordinator
// says: the file belongs to one user, and nobody else may open it.
#include <string>

#include "base/result.h"
#include "wire/secret.h"

namespace attune {

struct WireAddress {
  std::string address;  // HOST:PORT, port not 0
  std::string role;
  Secret secret;

  bool operator==(const WireAddress&) const = default;
};

// Whole or not at all, mode 0600.
Result<void> write_address_file(const std::string& path, const WireAddress& address);
// Errors name the path, and say what is wrong with it: missing, not ours, open to others, not what
// is expected.
Result<WireAddress> read_address_file(const std::string& path);
// Of a file with a secret: the whole text. Errors as above.
Result<std::string> read_secret_text(const std::string& path);
// The secret of a role, of a file as above or one that holds nothing but the 64 digits. Errors as
// above, also when the file is of another role.
Result<Secret> read_secret_file(const std::string& path, const std::string& role);

}  // namespace attune
