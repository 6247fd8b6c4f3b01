#include "cluster/pool/name_key.h"

#include <fmt/format.h>

#include "wire/secret.h"

namespace attune {

Result<std::string> digest_of_key(std::string_view key) {
  const auto secret = Secret::parse(key);
  if (!secret) return fail("key: 64 hexadecimal digits are wanted");
  return to_hex(secret->mac("attune: the key of a name"));
}

std::string program_key(const std::string& secret, const std::string& task, LeaseId lease) {
  const auto parsed = Secret::parse(secret);
  return parsed ? to_hex(parsed->mac(fmt::format("attune: program {} {}", task, lease))) : "";
}

bool same_key(std::string_view key, std::string_view given) {
  const auto ours = Secret::parse(key), theirs = Secret::parse(given);
  return ours && theirs && *ours == *theirs;
}

}  // namespace attune
