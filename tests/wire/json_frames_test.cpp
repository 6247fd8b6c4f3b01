#include "wire/json_frames.h"

#include <catch2/catch.hpp>
#include <vector>

namespace attune::json_frames_test {

using Catch::Contains;
using namespace std::string_literals;

std::string frame_of(std::string_view text) {
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8)
    frame += static_cast<char>(text.size() >> shift & 0xff);
  return frame.append(text);
}

std::string error_of(std::string_view stream, const JsonFrameLimits& limits = {}) {
  JsonFrameDecoder decoder(limits);
  decoder.feed(stream);
  for (;;) {
    const auto next = decoder.next();
    if (!next) return next.error().message;
    if (!*next) return "";
  }
}

TEST_CASE("json frames: objects come out of pieces of any size as they went in") {
  std::vector<json> sent;
  std::string stream;
  for (int i = 0; i < 50; ++i) {
    sent.push_back({{"number", i}, {"text", std::string(static_cast<std::size_t>(i * 7), '\xc3')}});
    sent.back()["text"] = "ä" + std::to_string(i);
    stream += *encode_json_frame(sent.back());
  }
  const auto piece =
      GENERATE(std::size_t{1}, std::size_t{3}, std::size_t{64}, std::size_t{1 << 20});
  JsonFrameDecoder decoder;
  std::vector<json> received;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    decoder.feed(std::string_view(stream).substr(at, piece));
    for (;;) {
      auto next = decoder.next();
      REQUIRE(next.has_value());
      if (!*next) break;
      received.push_back(std::move(**next));
    }
  }
  CHECK(received == sent);
  CHECK(!decoder.has_rest());
}

TEST_CASE("json frames: the length is four bytes with the high one first") {
  CHECK(encode_json_frame({{"a", 1}}) == "\0\0\0\x07{\"a\":1}"s);
}

TEST_CASE("json frames: what is wrong with a stream is said") {
  CHECK_THAT(
      error_of("GET / HTTP/1.1\r\n\r\n"),
      Contains("1195725856 bytes are over the limit of 16777216") && Contains("'GET / HTTP"));
  CHECK_THAT(error_of(frame_of("{}") + frame_of("[1]")),
             Contains("frame 2: a JSON object is expected, not an array"));
  CHECK_THAT(error_of("\0\0\0\0"s), Contains("frame 1: a JSON object is expected, not nothing"));
  CHECK_THAT(error_of(frame_of("{\"a\" 1}")), Contains("invalid JSON at byte 5"));
  CHECK_THAT(error_of(frame_of("{\"a\": \"\xff\"}")), Contains("invalid JSON"));
  CHECK_THAT(error_of(frame_of("{\"a\": [[[1]]]}"), {.json = {.depth = 3}}),
             Contains("nested deeper than 3 levels"));
  CHECK_THAT(error_of(frame_of("{\"a\": [1, 2, 3, 4]}"), {.json = {.values = 3}}),
             Contains("more than 3 values"));
  CHECK(error_of("\0\0\0\x07{\"a\":1"s).empty());
}

TEST_CASE("json frames: after an error there is only this error") {
  JsonFrameDecoder decoder;
  decoder.feed(frame_of("nonsense"));
  const auto first = decoder.next();
  REQUIRE(!first);
  decoder.feed(frame_of("{}"));
  CHECK(decoder.next().error().message == first.error().message);
  CHECK(!decoder.has_rest());
}

TEST_CASE("json frames: a limit that is raised holds for the next frame") {
  JsonFrameDecoder decoder({.bytes = 2});
  decoder.feed(frame_of("{}") + frame_of("{\"a\":1}"));
  CHECK(decoder.next().value().has_value());
  decoder.set_limits({.bytes = 7});
  CHECK(decoder.next().value().has_value());
}

TEST_CASE("json frames: neither a claimed length nor a frame that is done costs memory") {
  JsonFrameDecoder decoder;
  decoder.feed("\0\xff\xff\xff"s);
  CHECK(!decoder.next().value());
  CHECK(decoder.memory() < 1000);

  const std::string large = *encode_json_frame({{"text", std::string(1 << 20, 'x')}});
  JsonFrameDecoder other;
  other.feed(large);
  CHECK(other.memory() >= large.size());
  CHECK(other.next().value().has_value());
  CHECK(other.memory() < 1000);
}

TEST_CASE("json frames: an object that is too large is not encoded") {
  CHECK(encode_json_frame({{"a", 1}}, 7).has_value());
  CHECK_THAT(encode_json_frame({{"a", 12}}, 7).error().message,
             Contains("a frame of 8 bytes is over the limit of 7"));
}

TEST_CASE("json frames: what follows a frame may be something else") {
  JsonFrameDecoder decoder;
  decoder.feed(*encode_json_frame({{"a", 1}}) + "\x16\x03 no frame");
  REQUIRE(decoder.next()->has_value());
  CHECK(decoder.take_rest() == "\x16\x03 no frame");
  CHECK(!decoder.has_rest());
  decoder.feed(*encode_json_frame({{"b", 2}}));
  CHECK(**decoder.next() == json{{"b", 2}});
}

}  // namespace attune::json_frames_test
