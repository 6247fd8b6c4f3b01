#pragma once
// Expected failures (bad bytes, bad JSON, a missing file) are values: Result<T>. Bugs of ours are
// ATTUNE_CHECK (check.h). A failing environment (no memory) is an exception, which only main and
// the worker loop catch.
#include <expected>
#include <string>
#include <type_traits>
#include <utility>

namespace attune {

struct Error {
  // One sentence for people: where, what is wrong, and the cure if there is one. No code may decide
  // by its words; for that an error needs a type.
  std::string message;
  // The place with which the message begins, as in "solo.learner.needs: a number expected": a key
  // below a key. Empty if the message has no place.
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
// By value, because the result of TRY must not point into the macro's own temporary.
template <class T>
T take(Result<T>&& result) {
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}
}  // namespace detail

}  // namespace attune

// TRY(expression of type Result<T>) gives the T, or returns the error from the enclosing function.
// (libstdc++ 12 has std::expected without and_then; TRY is shorter anyway.) Numbered names allow
// one TRY inside another. In a braced list use it only as the first element: if a later element
// returns, g++ 12 leaks what the list has made so far; with two of them it frees what was never
// made.
#define TRY(...) ATTUNE_TRY_NAMED_(__COUNTER__, __VA_ARGS__)
#define ATTUNE_TRY_NAMED_(n, ...) ATTUNE_TRY_(n, __VA_ARGS__)
#define ATTUNE_TRY_(n, ...)                                                     \
  __extension__({                                                               \
    auto&& try_##n##_ = (__VA_ARGS__);                                          \
    if (!try_##n##_) return ::std::unexpected(::std::move(try_##n##_).error()); \
    ::attune::detail::take(::std::move(try_##n##_));                            \
  })
