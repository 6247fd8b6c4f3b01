// Any stream, cut anywhere: the same frames as in one piece, and they encode to the same bytes.
// The first input byte chooses the framing and the size of the pieces.
#include "protocol/frame.h"

#include <algorithm>
#include <vector>

#include "tests/fuzz/fuzz.h"

using namespace attune;

static std::vector<Frame> decode_in_pieces(std::string_view stream, const Framing& framing,
                                           std::size_t piece) {
  std::vector<Frame> frames;
  FrameDecoder decoder(framing);
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    decoder.feed(stream.substr(at, piece));
    for (;;) {
      auto next = decoder.next();
      if (!next) return frames;
      if (!*next) break;
      frames.push_back(std::move(**next));
    }
  }
  return frames;
}

FUZZ_TARGET(input) {
  if (input.empty()) return;
  const auto choice = static_cast<unsigned char>(input.front());
  const std::string_view stream = input.substr(1);
  const Framing framing{.length_digits = choice % 2 == 0 ? 14 : 6, .max_payload = 1000};

  const auto frames = decode_in_pieces(stream, framing, std::max<std::size_t>(stream.size(), 1));
  ATTUNE_CHECK(frames == decode_in_pieces(stream, framing, 1 + choice / 2));
  std::string written;
  for (const Frame& frame : frames) ATTUNE_CHECK(encode_frame(frame, framing, written));
  ATTUNE_CHECK(stream.starts_with(written));
}
