#pragma once
// ATTUNE_CHECK(condition) aborts the program if the condition is false: an impossible state is a
// bug of ours, and must not spread. It is always compiled in, and never used on input.

namespace attune::detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}

#define ATTUNE_CHECK(condition) \
  ((condition) ? void(0) : ::attune::detail::check_failed(#condition, __FILE__, __LINE__))
