#pragma once

#include <sstream>
#include <string>

namespace digits {

// concat("limit ", 3) is "limit 3"; the compiler of Debian 12 has no <format> yet.
template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

}  // namespace digits
