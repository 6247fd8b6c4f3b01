// Foreign text on one line.
#include "plots/label.h"

#include <catch2/catch.hpp>

#include "base/rng.h"

namespace attune::plots::label_test {

const std::string kReplaced = "\xEF\xBF\xBD", kEllipsis = "\xE2\x80\xA6";

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST_CASE("label: text stays, blanks become one space") {
  CHECK(label("") == "");
  CHECK(label("learning rate") == "learning rate");
  CHECK(label(" \t a \n\r\n b\f ") == "a b");
  CHECK(label("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80") == "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(label(" \n ") == "");
}

TEST_CASE("label: what is not UTF-8 is replaced, byte by byte") {
  CHECK(label("a\xFF\xFE z") == "a" + kReplaced + kReplaced + " z");
  CHECK(label("\xC0\xAF") == kReplaced + kReplaced);           // overlong /
  CHECK(label("\xED\xA0\x80") == repeated(kReplaced, 3));      // a surrogate
  CHECK(label("\xF5\x80\x80\x80") == repeated(kReplaced, 4));  // above U+10FFFF
  CHECK(label("\xE2\x82") == repeated(kReplaced, 2));          // cut off
  CHECK(label(std::string_view("\0x", 2)) == kReplaced + "x");
  CHECK(label("\x1B[31m\x7F") == kReplaced + "[31m" + kReplaced);
  CHECK(label("a\xE2\x80\xAE"
              "b") == "a" + kReplaced + "b");  // right to left
  CHECK(label("\xEF\xBF\xBE") == kReplaced);   // U+FFFE, not in XML
}

TEST_CASE("label: long text is cut with an ellipsis") {
  CHECK(label("abcde", 5) == "abcde");
  CHECK(label("abcdef", 5) == "abcd" + kEllipsis);
  CHECK(label("abcd ", 4) == "abcd");
  CHECK(label("abc d", 4) == "ab" + kEllipsis);
  CHECK(label(repeated("\xC3\xA4", 6), 3) == "\xC3\xA4\xC3\xA4" + kEllipsis);
  CHECK(label("ab", 1) == kEllipsis);
  CHECK(label(std::string(1 << 20, 'x')).size() == 119 + kEllipsis.size());
  CHECK(label(std::string(1 << 20, '\xFF'), 10) == repeated(kReplaced, 9) + kEllipsis);
  CHECK(label(std::string(1 << 20, ' ') + "x", 10).size() <= 10);
}

TEST_CASE("label: random bytes become valid text that stays as it is") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    std::string bytes;
    const std::size_t count = rng.index(60);
    for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(rng.index(256));
    const std::string once = label(bytes, 20);
    CHECK(label(once, 20) == once);
    CHECK(once.find_first_of("\n\t\r") == once.npos);
  }
}

TEST_CASE("label: for XML") {
  CHECK(xml_text("<b a='1' c=\"2\">&amp;</b>") ==
        "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;&lt;/b&gt;");
}

}  // namespace attune::plots::label_test
