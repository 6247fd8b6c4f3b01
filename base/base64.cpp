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
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  const auto byte = [bytes](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(bytes[i])};
  };
  char* to = out.data();
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const std::uint32_t bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (int shift = 18; shift >= 0; shift -= 6) *to++ = kAlphabet[bits >> shift & 63U];
  }
  if (const std::size_t left = bytes.size() - i; left > 0) {
    const std::uint32_t bits = byte(i) << 16 | (left == 2 ? byte(i + 1) << 8 : 0U);
    for (std::size_t k = 0; k <= left; ++k) *to++ = kAlphabet[bits >> (18 - 6 * k) & 63U];
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

  std::string out(digits * 3 / 4, '\0');
  char* to = out.data();
  std::uint32_t bits = 0;
  int held = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const std::uint8_t value = kValues.at(static_cast<unsigned char>(text[i]));
    if (value == 255) return fail("base64: invalid character at " + std::to_string(i));
    bits = bits << 6 | value;
    held += 6;
    if (held >= 8) {
      held -= 8;
      *to++ = static_cast<char>(bits >> held & 0xffU);
      // What is left at the end are unused bits: they must be 0.
      bits &= (1U << held) - 1;
    }
  }
  if (bits != 0) return fail("base64: the last character has unused bits that are not zero");
  return out;
}

}  // namespace attune
