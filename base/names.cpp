#include "base/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/json.h"
#include "base/terminal_text.h"

namespace attune {
namespace {

// File systems allow names of 255 bytes, and some of our files add an ending.
constexpr std::size_t kMostName = 200;
constexpr std::size_t kMostPrintable = 300;

// The error may be shown on a terminal.
std::string shown(std::string_view text) {
  std::string harmless(text.substr(0, kMostName));
  std::ranges::replace_if(harmless, [](char c) { return c < ' ' || c > '~'; }, '?');
  return harmless;
}

}  // namespace

Result<void> check_name(std::string_view what, std::string_view name) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const bool good =
      !name.empty() && name.size() <= kMostName && plain(name.front()) &&
      std::ranges::all_of(name, [&](char c) { return plain(c) || c == '-' || c == '.'; });
  if (good) return {};
  return fail(
      fmt::format("{} \"{}\" cannot be used: a name has 1 to {} letters, digits, '-', '_' and '.', "
                  "and does not begin with '-' or '.'",
                  what, shown(name), kMostName));
}

Result<void> check_printable(std::string_view what, std::string_view text) {
  if (!text.empty() && text.size() <= kMostPrintable && is_utf8(std::string(text)) &&
      terminal_line(text) == text)
    return {};
  return fail(
      fmt::format("{} \"{}\" cannot be used: 1 to {} bytes of UTF-8 without control "
                  "characters can",
                  what, shown(text), kMostPrintable));
}

}  // namespace attune
