#include "protocol/frame.h"

#include <catch2/catch.hpp>

#include "base/rng.h"

namespace attune::frame_test {

std::string encoded(const Frame& frame, Framing framing = {}) {
  std::string bytes;
  REQUIRE(encode_frame(frame, framing, bytes));
  return bytes;
}

std::vector<Frame> decode_all(FrameDecoder& decoder) {
  std::vector<Frame> frames;
  while (true) {
    auto frame = decoder.next();
    REQUIRE(frame);
    if (!*frame) return frames;
    frames.push_back(**frame);
  }
}

std::string error_of(const std::string& bytes, Framing framing = {}) {
  FrameDecoder decoder(framing);
  decoder.feed(bytes);
  while (true) {
    auto frame = decoder.next();
    if (!frame) return frame.error().message;
    if (!*frame) return "";
  }
}

TEST_CASE("the bytes of a frame are NNI's") {
  CHECK(encoded({"TR", "CONTENT"}) == "TR00000000000007CONTENT");
  CHECK(encoded({"TR", "你好"}) == "TR00000000000006你好");
  CHECK(encoded({"PI", ""}) == "PI00000000000000");
  CHECK(encoded({"IN", "hello"}, {6, 1000}) == "IN000005hello");
}

TEST_CASE("any split of the stream gives the same frames") {
  const auto digits = GENERATE(14, 6);
  const Framing framing{digits, 1 << 20};
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(digits, seed);
  Rng rng(seed);
  std::vector<Frame> frames;
  std::string bytes;
  for (int i = 0; i < 200; ++i) {
    Frame frame{i % 3 ? "ME" : "GE", {}};
    for (auto n = rng.index(i % 10 ? 40 : 5000); n > 0; --n) {
      frame.payload += static_cast<char>(rng.index(256));
    }
    bytes += encoded(frame, framing);
    frames.push_back(std::move(frame));
  }
  FrameDecoder decoder(framing);
  std::vector<Frame> got;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t n = 1 + rng.index(rng.index(4) ? 7 : 3000);
    decoder.feed(std::string_view(bytes).substr(at, n));
    at += n;
    for (Frame& frame : decode_all(decoder)) got.push_back(std::move(frame));
  }
  CHECK(got == frames);
  CHECK_FALSE(decoder.mid_frame());
  CHECK(decoder.offset() == bytes.size());
}

TEST_CASE("a stream that cannot be read says where and why") {
  CHECK(error_of("GE000000000000011GE0000000000000x1") ==
        "broken command stream at byte 17: the length '0000000000000x' is not 14 digits; first "
        "bytes: 'GE0000000000000x1'");
  CHECK(error_of("GE+0000000000001").find("is not 14 digits") != std::string::npos);
  CHECK(error_of("GE 0000000000001").find("is not 14 digits") != std::string::npos);
  CHECK(error_of("GE-0000000000001").find("is not 14 digits") != std::string::npos);
  CHECK(error_of("\x01\x02").find("code is not text; first bytes: '\\x01\\x02'") !=
        std::string::npos);
  CHECK(error_of("ME00000000001025", {14, 1024}).find("over the limit of 1024") !=
        std::string::npos);
  CHECK(error_of("ME99999999999999").find("over the limit") != std::string::npos);
  SECTION("garbage is refused before its header is whole") {
    CHECK(error_of("hello").find("the length 'llo' is not") != std::string::npos);
  }
  SECTION("and stays unreadable") {
    FrameDecoder decoder(Framing{});
    decoder.feed("GEx");
    CHECK_FALSE(decoder.next());
    decoder.feed("GE000000000000011");
    CHECK_FALSE(decoder.next());
  }
}

TEST_CASE("a stream that ends inside a frame is noticed") {
  for (const std::string part : {"G", "GE", "GE0000", "ME00000000000100{\"type\":"}) {
    FrameDecoder decoder(Framing{});
    decoder.feed("PI00000000000000" + part);
    CHECK(decode_all(decoder).size() == 1);
    CHECK(decoder.mid_frame());
    CHECK(decoder.offset() == 16);
  }
}

TEST_CASE("a payload over the limit is not written") {
  std::string bytes;
  CHECK_FALSE(encode_frame({"TR", std::string(1'000'000, 'x')}, {6, 64u << 20}, bytes));
  CHECK(encode_frame({"TR", std::string(999'999, 'x')}, {6, 64u << 20}, bytes));
  CHECK_FALSE(encode_frame({"TR", std::string(11, 'x')}, {14, 10}, bytes));
}

}  // namespace attune::frame_test
