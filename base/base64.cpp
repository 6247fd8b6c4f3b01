#include "base/base64.h"

#include <array>
#include <cstdint>

namespace attune {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The value of each character; 255: not in the alphabet.
constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(255);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values.at(static_cast<unsigned char>(kAlphabet[i])) = static_cast<std::uint8_t>(i);
  }
  return values;
}();

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= group.size() ? kAlphabet[bits >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return out;
}

Result<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) {
    return fail("base64: " + std::to_string(text.size()) +
                " characters; a multiple of 4 expected (padded with =)");
  }
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const std::size_t digits = text.size() - padding;

  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int held = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const std::uint8_t value = kValues.at(static_cast<unsigned char>(text[i]));
    if (value == 255) return fail("base64: invalid character at " + std::to_string(i));
    bits = bits << 6 | value;
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>(bits >> held & 0xffU);
      bits &= (1U << held) - 1;
    }
  }
  if (bits != 0) return fail("base64: the last character has unused bits that are not zero");
  return out;
}

}  // namespace attune
