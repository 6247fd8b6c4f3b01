// TRY and Result: the value, the error, and no dangling.
#include "base/result.h"

#include <catch2/catch.hpp>
#include <memory>

namespace attune::result_test {

Result<int> half(int x) {
  if (x % 2 != 0) return fail(std::to_string(x) + " is odd");
  return x / 2;
}

Result<int> quarter(int x) {
  const int y = TRY(half(x));
  return TRY(half(y));
}

Result<void> even(int x) {
  TRY(half(x));
  return {};
}

Result<std::string> named(int x) {
  TRY(even(x));
  return "even";
}

Result<std::unique_ptr<int>> boxed(int x) { return std::make_unique<int>(TRY(half(x))); }

Result<int> unboxed(int x) {
  const auto box = TRY(boxed(x));  // move-only
  return *box;
}

Result<std::string> once(Result<std::string>& given) { return TRY(std::move(given)); }

TEST_CASE("TRY yields the value") {
  CHECK(quarter(12) == 3);
  CHECK(named(4).value() == "even");
  CHECK(unboxed(10) == 5);
}

TEST_CASE("TRY returns the first error, through results of other types") {
  CHECK(quarter(6).error().message == "3 is odd");
  CHECK(quarter(7).error().message == "7 is odd");
  CHECK(named(5).error().message == "5 is odd");
  CHECK(unboxed(9).error().message == "9 is odd");
}

TEST_CASE("TRY moves out of the result, it does not copy") {
  Result<std::string> given = std::string(100, 'x');
  const char* buffer = given->data();
  const auto taken = once(given);
  REQUIRE(taken);
  CHECK(taken->data() == buffer);
}

}  // namespace attune::result_test
