#pragma once
// The file that tells processes of one role where a coordinator listens, and their secret:
// {"address": "HOST:PORT", "role": "worker", "secret": "<64 hexadecimal digits>"}. docs/wire.md.
//
// Whoever knows the secret can act in that role, and can pretend to other processes of the role to
// be the coordinator. So the file belongs to one user, and nobody else may open it.
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

// Atomic: readers see the old file or the new one. Mode 0600.
Result<void> write_address_file(const std::string& path, const WireAddress& address);
// Errors name the path and the reason: the file is missing, belongs to somebody else, can be opened
// by others, or has other content.
Result<WireAddress> read_address_file(const std::string& path);
// Reads the whole text of a file that holds a secret. Errors as above.
Result<std::string> read_secret_text(const std::string& path);
// Reads the secret of `role` from an address file, or from a file that holds only the 64 digits.
// Errors as above, and if the address file is for another role.
Result<Secret> read_secret_file(const std::string& path, const std::string& role);

}  // namespace attune
