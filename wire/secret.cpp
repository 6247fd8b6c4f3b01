#include "wire/secret.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"

namespace attune {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

// Waits until the system has collected entropy. From then on getrandom() gives up to 256 bytes as a
// whole.
Bytes32 draw_bytes() {
  Bytes32 bytes{};
  ssize_t drawn = 0;
  do {
    drawn = ::getrandom(bytes.data(), bytes.size(), 0);
  } while (drawn < 0 && errno == EINTR);
  ATTUNE_CHECK(drawn == static_cast<ssize_t>(bytes.size()));
  return bytes;
}

std::string to_hex(const Bytes32& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Result<Bytes32> parse_hex(std::string_view text) {
  Bytes32 bytes{};
  if (text.size() != 2 * bytes.size())
    return fail(fmt::format("64 hexadecimal digits are expected, not {} characters", text.size()));
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = kDigits.find(text[i]);
    if (digit == std::string_view::npos)
      return fail(fmt::format("character {} is none of 0-9 and a-f", i + 1));
    std::uint8_t& byte = bytes[i / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | digit);
  }
  return bytes;
}

bool equal_bytes(const Bytes32& a, const Bytes32& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<Secret> Secret::parse(std::string_view hex) { return Secret(TRY(parse_hex(hex))); }

Bytes32 Secret::mac(std::string_view message) const {
  Bytes32 mac{};
  unsigned size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
  const bool done = ::HMAC(::EVP_sha256(), bytes_.data(), static_cast<int>(bytes_.size()), bytes,
                           message.size(), mac.data(), &size) != nullptr;
  ATTUNE_CHECK(done && size == mac.size());
  return mac;
}

}  // namespace attune
