#pragma once
#include <algorithm>
#include <string_view>

namespace attune {

// Without the blanks and the ends of lines around it; ASCII only, whatever the locale.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlank), text.size());
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

}  // namespace attune
