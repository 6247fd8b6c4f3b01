#pragma once
// Bytes <-> frames: two bytes of code, the payload's length in bytes as decimal digits (14; 6 for
// NNI before 1.6), the payload. No terminator, no checksum, so a stream that goes wrong once cannot
// be synchronised again.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "protocol/limits.h"

namespace attune {

struct Frame {
  std::string code;     // two printable ASCII characters
  std::string payload;  // UTF-8, not checked here

  bool operator==(const Frame&) const = default;
};

struct Framing {
  int length_digits = 14;                      // 14 or 6
  std::size_t max_payload = Limits{}.payload;  // larger frames are refused, in both directions
};

// Takes the stream in pieces of any size. Not thread safe.
class FrameDecoder {
 public:
  explicit FrameDecoder(Framing framing) : framing_(framing) {}

  void feed(std::string_view bytes);

  // The next whole frame, nothing when more bytes are needed, or why the stream is unusable (with
  // its byte offset and the first 64 bytes); after an error only errors follow.
  Result<std::optional<Frame>> next();

  // Bytes are there that are not a whole frame yet.
  bool mid_frame() const { return begin_ < buffer_.size(); }
  std::uint64_t offset() const { return consumed_; }  // of the next frame in the stream
  std::string head() const;                           // its first 64 bytes, printable

 private:
  std::size_t header_size() const { return 2 + static_cast<std::size_t>(framing_.length_digits); }
  std::unexpected<Error> broken(const std::string& what) const;

  Framing framing_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of the next frame in buffer_
  std::uint64_t consumed_ = 0;
};

// Appends the frame's bytes to `out`. Fails when the payload is larger than the framing allows.
Result<void> encode_frame(const Frame& frame, const Framing& framing, std::string& out);

// At most `limit` bytes of `bytes` for a message: printable ASCII as it is, the rest as \xNN.
std::string printable(std::string_view bytes, std::size_t limit = 64);

}  // namespace attune
