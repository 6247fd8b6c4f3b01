#pragma once
// Bytes <-> JSON objects: four bytes with the length of the JSON in bytes (big endian), the JSON,
// nothing behind it. A stream that goes wrong once cannot be synchronised again.
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

// Takes the stream in pieces of any size. Not thread safe. When next() is called until it has
// nothing, it holds no more than one frame and one piece; what a frame says of its length costs
// nothing before the bytes are there.
class JsonFrameDecoder {
 public:
  explicit JsonFrameDecoder(const JsonFrameLimits& limits = {}) : limits_(limits) {}

  void feed(std::string_view bytes);

  // The next object, nothing when more bytes are needed, or why the stream is unusable, with the
  // number of the frame; after an error only this error follows.
  Result<std::optional<json>> next();

  // For the frames that next() has not looked at yet.
  void set_limits(const JsonFrameLimits& limits) { limits_ = limits; }
  // What next() has not used, which is no frame any more: from here on it is something else.
  std::string take_rest();
  // Bytes are there that next() has not used.
  bool has_rest() const { return begin_ < buffer_.size(); }
  std::size_t memory() const { return buffer_.capacity(); }  // bytes

 private:
  std::unexpected<Error> broken(const std::string& what);

  JsonFrameLimits limits_;
  std::string buffer_;
  std::size_t begin_ = 0;     // of the next frame in buffer_
  std::uint64_t frames_ = 0;  // that came whole
  std::optional<Error> error_;
};

// The bytes of a frame. Fails when the JSON has more than `most` bytes; the limits of the other
// side on depth, keys and values are not looked at.
Result<std::string> encode_json_frame(const json& object,
                                      std::size_t most = JsonFrameLimits{}.bytes);

}  // namespace attune
