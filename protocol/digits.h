#pragma once

namespace attune {

// ASCII only, whatever the locale: frames and metrics are bytes.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace attune
