#pragma once
// Bytes <-> JSON objects. A frame is the length of the JSON in bytes (four bytes, big endian),
// followed by the JSON. There is no marker between frames, so after one wrong length the reader
// cannot find the next frame: the connection must end.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace attune {

struct JsonFrameLimits {
  std::size_t bytes = std::size_t{16} << 20;  // of the JSON of one frame
  JsonLimits json = {.depth = 64, .values = 2'000'000};
};

// Takes the stream in pieces of any size. Not thread safe. If the caller calls next() until it
// returns nothing, the decoder holds at most one frame and one piece. It reserves no memory for a
// length that a peer only claims: memory grows with the bytes that have come.
class JsonFrameDecoder {
 public:
  explicit JsonFrameDecoder(const JsonFrameLimits& limits = {}) : limits_(limits) {}

  void feed(std::string_view bytes);

  // The next object, or nothing when more bytes are needed. An error says why the stream cannot be
  // read further, with the number of the frame; after it every call returns the same error.
  Result<std::optional<json>> next();

  // Applies to frames that next() has not examined yet.
  void set_limits(const JsonFrameLimits& limits) { limits_ = limits; }
  // Removes and returns the bytes that next() has not used: they are no frames, because from here
  // on the stream is encrypted.
  std::string take_rest();
  // Whether there are bytes that next() has not used.
  bool has_rest() const { return begin_ < buffer_.size(); }
  std::size_t memory() const { return buffer_.capacity(); }  // bytes

 private:
  std::unexpected<Error> broken(const std::string& what);

  JsonFrameLimits limits_;
  std::string buffer_;
  std::size_t begin_ = 0;     // of the next frame in buffer_
  std::uint64_t frames_ = 0;  // complete frames so far, for messages
  std::optional<Error> error_;
};

// The bytes of a frame. Error: the JSON has more than `most` bytes. The other limits (depth, keys,
// values) are not checked here; the receiver checks them.
Result<std::string> encode_json_frame(const json& object,
                                      std::size_t most = JsonFrameLimits{}.bytes);

}  // namespace attune
