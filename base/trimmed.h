#pragma once
#include <algorithm>
#include <string_view>

namespace attune {

// The text without the spaces, tabs and ends of lines around it. The locale does not matter.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlank), text.size());
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

}  // namespace attune
