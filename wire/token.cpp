#include "wire/token.h"

namespace attune {

std::string make_token(const TokenBytes& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string token;
  for (const std::uint8_t byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

bool token_matches(std::string_view secret, std::string_view given) {
  if (secret.empty()) return false;
  // volatile: or the compiler may leave the loop at the first difference.
  volatile unsigned difference = secret.size() == given.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    difference = difference | static_cast<unsigned>(given[i] ^ secret[i % secret.size()]);
  }
  return difference == 0;
}

}  // namespace attune
