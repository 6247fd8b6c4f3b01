#pragma once
// Expected failures (bad bytes, bad JSON, a missing file) are values: Result<T>. Bugs of ours are
// ATTUNE_CHECK (check.h). A collapsing environment (no memory) is an exception, caught in main and
// in the worker loop only.
#include <expected>
#include <string>
#include <type_traits>
#include <utility>

namespace attune {

struct Error {
  // One sentence for a human: where, what is wrong, and the cure if there is one. Nothing is
  // decided by its words: whoever decides needs a type for it.
  std::string message;
  // The place that the message begins with, as in "solo.learner.needs: a number expected": a key
  // below a key. Empty: it begins with none.
  std::string place = {};

  // The message without the place.
  std::string what() const { return message.substr(place.empty() ? 0 : place.size() + 2); }
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(std::string message) {
  return std::unexpected(Error{std::move(message)});
}

inline std::unexpected<Error> fail_at(std::string place, const std::string& what) {
  std::string message = place + ": " + what;
  return std::unexpected(Error{std::move(message), std::move(place)});
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
