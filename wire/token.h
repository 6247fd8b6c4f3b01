#pragma once
// The secret that whoever dials must know.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace attune {

// 128 bits of the system's entropy, which only a main() asks for.
using TokenBytes = std::array<std::uint8_t, 16>;
std::string make_token(const TokenBytes& bytes);  // 32 hexadecimal digits

// Takes a time that depends on the length of `given` alone, so that it cannot be guessed digit by
// digit. An empty secret matches nothing.
bool token_matches(std::string_view secret, std::string_view given);

}  // namespace attune
