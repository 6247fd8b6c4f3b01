#pragma once
// Keys prove who owns a name. The owner of a name sends its key over the encrypted connection; the
// coordinator stores a digest only, from which nobody can compute the key.
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/pool/task.h"

namespace attune {

// The HMAC-SHA256 of a fixed text under `key`, as 64 hexadecimal digits. `key` must be 64
// hexadecimal digits; the error says so and does not quote the key.
Result<std::string> digest_of_key(std::string_view key);

// The key of the program of one attempt: derived from the coordinator's secret (64 hexadecimal
// digits) and the lease, whose number is never used twice. Empty if `secret` is empty.
std::string program_key(const std::string& secret, const std::string& task, LeaseId lease);
// The time does not depend on where the two differ. False if one of them is empty.
bool same_key(std::string_view key, std::string_view given);

}  // namespace attune
