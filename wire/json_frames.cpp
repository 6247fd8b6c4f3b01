#include "wire/json_frames.h"

#include <fmt/format.h>

#include "base/check.h"

namespace attune {
namespace {

constexpr std::size_t kHeader = 4;
// Bytes of buffer that are kept when it is empty. So one large frame does not hold its memory for
// the rest of the stream.
constexpr std::size_t kKept = std::size_t{64} << 10;

std::uint32_t length_of(std::string_view header) {
  std::uint32_t length = 0;
  for (const char byte : header.substr(0, kHeader)) {
    length = length << 8 | static_cast<unsigned char>(byte);
  }
  return length;
}

std::string printable(std::string_view bytes) {
  std::string text(bytes);
  for (char& c : text) {
    if (c < 0x20 || c >= 0x7f) c = '.';
  }
  return text;
}

}  // namespace

void JsonFrameDecoder::feed(std::string_view bytes) {
  if (error_) return;
  // Used bytes are cut off only when they are half of the buffer, so that many small frames in one
  // piece do not cost a move each.
  if (begin_ > buffer_.size() / 2) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  buffer_.append(bytes);
}

std::unexpected<Error> JsonFrameDecoder::broken(const std::string& what) {
  error_ = Error{fmt::format("frame {}: {}", frames_ + 1, what)};
  buffer_ = {};
  begin_ = 0;
  return std::unexpected(*error_);
}

Result<std::optional<json>> JsonFrameDecoder::next() {
  if (error_) return std::unexpected(*error_);
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  if (rest.size() < kHeader) return std::nullopt;
  const std::size_t length = length_of(rest);
  if (length > limits_.bytes) {
    // Show the first bytes: they tell which protocol a program speaks that dialled the wrong port.
    return broken(fmt::format("{} bytes are over the limit of {}; it begins with '{}'", length,
                              limits_.bytes, printable(rest.substr(0, 16))));
  }
  if (length == 0) return broken("a JSON object is expected, not nothing");
  if (rest.size() - kHeader < length) return std::nullopt;
  auto value = parse_json(rest.substr(kHeader, length), limits_.json);
  if (!value) return broken(value.error().message);
  if (!value->is_object()) {
    return broken(fmt::format("a JSON object is expected, not {}", json_type_name(*value)));
  }
  ++frames_;
  begin_ += kHeader + length;
  if (begin_ == buffer_.size()) {
    begin_ = 0;
    buffer_.clear();
    if (buffer_.capacity() > kKept) buffer_.shrink_to_fit();
  }
  return std::optional<json>(*std::move(value));
}

std::string JsonFrameDecoder::take_rest() {
  std::string rest = buffer_.substr(begin_);
  buffer_.clear();
  begin_ = 0;
  return rest;
}

Result<std::string> encode_json_frame(const json& object, std::size_t most) {
  ATTUNE_CHECK(object.is_object());
  const std::string text = dump_json(object);
  if (text.size() > most || text.size() > UINT32_MAX) {
    return fail(fmt::format("a frame of {} bytes is over the limit of {}", text.size(), most));
  }
  std::string frame;
  frame.reserve(kHeader + text.size());
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame += static_cast<char>(text.size() >> shift & 0xff);
  }
  return frame + text;
}

}  // namespace attune
