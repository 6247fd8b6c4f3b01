#include "wire/secret.h"

#include <catch2/catch.hpp>

namespace attune::secret_test {

using Catch::Contains;

TEST_CASE("secret: two draws differ and a text gives the same one back") {
  const Secret one = Secret::draw(), other = Secret::draw();
  CHECK(one == one);
  CHECK(!(one == other));
  CHECK(one.hex().size() == 64);
  CHECK(Secret::parse(one.hex()).value() == one);
}

TEST_CASE("secret: a text of 64 digits and nothing else") {
  const std::string good(64, 'a');
  CHECK(Secret::parse(good)->hex() == good);
  CHECK_THAT(Secret::parse(good.substr(1)).error().message, Contains("not 63 characters"));
  CHECK_THAT(Secret::parse(good + "a").error().message, Contains("not 65 characters"));
  CHECK_THAT(Secret::parse("").error().message, Contains("not 0 characters"));
  for (const char bad : {'g', 'A', ' ', '\0', '-'}) {
    std::string text = good;
    text[9] = bad;
    const std::string message = Secret::parse(text).error().message;
    CHECK(message == "character 10 is none of 0-9 and a-f");  // and not what it is
  }
}

// RFC 4231, 4.2 and 4.3, with keys that are padded with zeros, which HMAC does itself.
TEST_CASE("secret: its MAC is HMAC-SHA256") {
  Bytes32 key{};
  std::fill(key.begin(), key.begin() + 20, std::uint8_t{0x0b});
  CHECK(to_hex(Secret(key).mac("Hi There")) ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  Bytes32 jefe{'J', 'e', 'f', 'e'};
  CHECK(to_hex(Secret(jefe).mac("what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("secret: bytes are equal or differ in any place") {
  const Bytes32 bytes = draw_bytes();
  CHECK(equal_bytes(bytes, bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Bytes32 other = bytes;
    other[i] ^= 1;
    CHECK(!equal_bytes(bytes, other));
  }
}

}  // namespace attune::secret_test
