// Any stream, cut anywhere: the same objects, or the same error, as in one piece, and what was
// accepted is read back as it was written. The first input byte chooses the size of the pieces.
#include "wire/json_frames.h"

#include <algorithm>
#include <vector>

#include "tests/fuzz/fuzz.h"

using namespace attune;

namespace {

struct Heard {
  std::vector<std::string> objects;
  std::string error;

  bool operator==(const Heard&) const = default;
};

Heard decode_in_pieces(std::string_view stream, std::size_t piece) {
  constexpr std::size_t kMost = 1000;
  JsonFrameDecoder decoder({.bytes = kMost, .json = {.depth = 16, .keys = 50, .values = 200}});
  Heard heard;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    decoder.feed(stream.substr(at, piece));
    for (;;) {
      const auto next = decoder.next();
      if (!next) {
        heard.error = next.error().message;
        return heard;
      }
      if (!*next) break;
      heard.objects.push_back(dump_json(**next));
    }
    ATTUNE_CHECK(decoder.memory() <= 4 * (4 + kMost + piece));
  }
  return heard;
}

}  // namespace

FUZZ_TARGET(input) {
  if (input.empty()) return;
  const std::size_t piece = 1 + static_cast<unsigned char>(input.front());
  const std::string_view stream = input.substr(1);
  // An error shows how much of the frame was there.
  const Heard whole = decode_in_pieces(stream, std::max<std::size_t>(stream.size(), 1));
  const Heard pieces = decode_in_pieces(stream, piece);
  ATTUNE_CHECK(whole.error.empty() == pieces.error.empty() && whole.objects == pieces.objects);
  for (const std::string& object : whole.objects) {
    JsonFrameDecoder decoder;
    decoder.feed(encode_json_frame(*parse_json(object)).value());
    const auto again = decoder.next();
    ATTUNE_CHECK(again && *again && dump_json(**again) == object && !decoder.has_rest());
  }
}
