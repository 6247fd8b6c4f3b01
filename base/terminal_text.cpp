#include "base/terminal_text.h"

#include <fmt/format.h>

namespace attune {
namespace {

std::string escaped(std::string_view text, bool keep_lines) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    // U+0080 to U+009F are control characters, too: in UTF-8 the byte c2 and a second one. Showing
    // the second one is enough.
    const bool high = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    if (high) {
      shown += fmt::format("\\x{:02x}", next);
      ++i;
    } else if ((byte < 0x20 && !(keep_lines && (byte == '\n' || byte == '\t'))) || byte == 0x7f) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += text[i];
    }
  }
  return shown;
}

}  // namespace

std::string terminal_text(std::string_view text) { return escaped(text, true); }
std::string terminal_line(std::string_view text) { return escaped(text, false); }

}  // namespace attune
