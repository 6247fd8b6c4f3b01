#include "plots/label.h"

#include <cstdint>

namespace attune::plots {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// The character at the beginning of a text that is not empty.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {};
  std::uint32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[bytes] || surrogate || code > 0x10FFFF) return {};
  return {code, bytes};
}

bool is_blank(std::uint32_t code) { return code == ' ' || (code >= '\t' && code <= '\r'); }

// What one line of text must not contain: controls, marks of direction and lines, non-characters.
bool is_unfit(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
         code == 0xFEFF || code >= 0xE0000 || (code & 0xFFFE) == 0xFFFE ||
         (code >= 0xFDD0 && code <= 0xFDEF);
}

}  // namespace

std::string label(std::string_view text, std::size_t most) {
  std::string line;
  std::size_t last = 0;  // where its last character begins
  std::size_t count = 0;
  bool blank = false;
  while (!text.empty()) {
    const Character c = first_character(text);
    const std::size_t bytes = c.bytes > 0 ? c.bytes : 1;
    if (c.bytes > 0 && is_blank(c.code)) {
      blank = true;
      text.remove_prefix(bytes);
      // Blanks without end are not read to their end.
      const std::size_t next = text.substr(0, 4096).find_first_not_of(" \t\n\v\f\r");
      text.remove_prefix(next == text.npos ? text.size() : next);
      continue;
    }
    const std::size_t more = blank && count > 0 ? 2 : 1;
    if (count + more > most) {
      line.resize(last);
      return line.append(kEllipsis);
    }
    if (more == 2) line += ' ';
    blank = false;
    last = line.size();
    line += c.bytes > 0 && !is_unfit(c.code) ? text.substr(0, bytes) : kReplacement;
    count += more;
    text.remove_prefix(bytes);
  }
  return line;
}

std::string xml_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

}  // namespace attune::plots
