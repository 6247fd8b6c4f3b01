// RFC 4648 section 10 vectors, round trips, and what strict means.
#include "base/base64.h"

#include <catch2/catch.hpp>

#include "base/rng.h"

namespace attune::base64_test {

TEST_CASE("the vectors of RFC 4648") {
  struct Row {
    const char *bytes, *text;
  };
  const auto row =
      GENERATE(Row{"", ""}, Row{"f", "Zg=="}, Row{"fo", "Zm8="}, Row{"foo", "Zm9v"},
               Row{"foob", "Zm9vYg=="}, Row{"fooba", "Zm9vYmE="}, Row{"foobar", "Zm9vYmFy"});
  CHECK(base64_encode(row.bytes) == row.text);
  CHECK(base64_decode(row.text).value() == row.bytes);
}

TEST_CASE("any bytes survive") {
  Rng rng(1);
  for (std::size_t size = 0; size < 200; ++size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(rng.index(256));
    CHECK(base64_decode(base64_encode(bytes)).value() == bytes);
  }
}

TEST_CASE("what is not strict base64 is an error") {
  const char* text =
      GENERATE("Z", "Zg", "Zg=", "Zg===", "Z===", "====", "=", "Zm9v=", "Zm9vZg", "Zm 9v", "Zm9v\n",
               "Zm9-", "Zm9_", "Zh==", "Zm9=", "=m9v", "Z=9v", "Zg==Zg==", "\xc3\xa9vv");
  CAPTURE(text);
  CHECK_FALSE(base64_decode(text));
}

}  // namespace attune::base64_test
