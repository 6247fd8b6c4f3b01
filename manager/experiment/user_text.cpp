#include "manager/experiment/user_text.h"

#include <fmt/format.h>

#include "manager/experiment/findings.h"
#include "os/trust.h"

namespace attune {
namespace {

constexpr std::size_t kMaxText = 64 << 20;

// The position of the first sequence that is not UTF-8; npos: there is none. Overlong forms and
// surrogates are not detected here, but by the parsers of the text.
std::size_t first_invalid_utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t more = lead < 0x80           ? 0
                             : (lead >> 5) == 0x06 ? 1
                             : (lead >> 4) == 0x0E ? 2
                             : (lead >> 3) == 0x1E ? 3
                                                   : 4;
    if (more == 4 || i + more >= text.size()) return i;
    for (std::size_t k = 1; k <= more; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) >> 6) != 2) return i;
    }
    i += more + 1;
  }
  return std::string::npos;
}

}  // namespace

Result<std::string> read_user_text(const std::filesystem::path& path) {
  std::string content = TRY(read_trusted_file(path, kMaxText));
  const std::size_t at = first_invalid_utf8(content);
  if (at == std::string::npos) return content;
  const Mark mark = mark_at(content, at);
  return fail(fmt::format("{}:{}:{}: not UTF-8 (byte 0x{:02X}); save it as UTF-8", path.string(),
                          mark.line, mark.column, static_cast<unsigned char>(content[at])));
}

}  // namespace attune
