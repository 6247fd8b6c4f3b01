#pragma once
// The key that a name is bound to. Whoever has a name says its key too, inside of the encryption;
// the coordinator remembers what cannot be turned back into the key.
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/pool/task.h"

namespace attune {

// Of a key, 64 hexadecimal digits: as many of its HMAC-SHA256 over a text that is always the same.
// The error names the rule, not the key.
Result<std::string> digest_of_key(std::string_view key);

// The key of one attempt's program: it follows from a secret of the coordinator, 64 hexadecimal
// digits, and the lease, whose numbers are given out once. Empty without a secret.
std::string program_key(const std::string& secret, const std::string& task, LeaseId lease);
// Takes the same time wherever they differ. An empty one is equal to nothing.
bool same_key(std::string_view key, std::string_view given);

}  // namespace attune
