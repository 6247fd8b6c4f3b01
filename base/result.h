#pragma once
// Expected failures (bad bytes, bad JSON, a missing file) are values: Result<T>. Bugs of ours are
// ATTUNE_CHECK (check.h). A collapsing environment (no memory) is an exception, caught in main and
// in the worker loop only.
#include <expected>
#include <string>
#include <type_traits>
#include <utility>

namespace attune {

// One sentence for a human: where, what is wrong, and the cure if there is one.
struct Error {
  std::string message;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(std::string message) {
  return std::unexpected(Error{std::move(message)});
}

namespace detail {
// By value: what TRY yields must not point into its own temporary.
template <class T>
T take(Result<T>&& result) {
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}
}  // namespace detail

}  // namespace attune

// TRY(expression of type Result<T>): the T, or return the error from the enclosing function.
// libstdc++ 12 has std::expected without and_then; this is shorter anyway. Numbered names let one
// TRY stand in another; in a braced list only as the first element: g++ 12 leaks what the list has
// made when a later one returns, and frees what was never made when there are two.
#define TRY(...) ATTUNE_TRY_NAMED_(__COUNTER__, __VA_ARGS__)
#define ATTUNE_TRY_NAMED_(n, ...) ATTUNE_TRY_(n, __VA_ARGS__)
#define ATTUNE_TRY_(n, ...)                                                     \
  __extension__({                                                               \
    auto&& try_##n##_ = (__VA_ARGS__);                                          \
    if (!try_##n##_) return ::std::unexpected(::std::move(try_##n##_).error()); \
    ::attune::detail::take(::std::move(try_##n##_));                            \
  })
