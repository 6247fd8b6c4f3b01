#pragma once
// A secret: 32 random bytes that both sides of a connection know and never send. They prove that
// they know it by MACs (handshake.h). In files it is 64 hexadecimal digits. There is no operator<<
// and no formatter, so that no log line can print one by accident.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace attune {

using Bytes32 = std::array<std::uint8_t, 32>;

Bytes32 draw_bytes();                              // from the entropy of the operating system
std::string to_hex(const Bytes32& bytes);          // 64 lower-case digits
Result<Bytes32> parse_hex(std::string_view text);  // the error does not repeat the text
// Constant time: where the two differ does not change how long it takes, so that an attacker cannot
// guess byte by byte.
bool equal_bytes(const Bytes32& a, const Bytes32& b);

class Secret {
 public:
  explicit Secret(const Bytes32& bytes) : bytes_(bytes) {}
  static Secret draw() { return Secret(draw_bytes()); }
  static Result<Secret> parse(std::string_view hex);

  std::string hex() const { return to_hex(bytes_); }
  const Bytes32& bytes() const { return bytes_; }
  // HMAC-SHA256 (RFC 2104) of the message under this secret.
  Bytes32 mac(std::string_view message) const;

  bool operator==(const Secret& other) const { return equal_bytes(bytes_, other.bytes_); }

 private:
  Bytes32 bytes_;
};

}  // namespace attune
