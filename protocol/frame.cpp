#include "protocol/frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/digits.h"

namespace attune {
namespace {

bool is_printable(char c) { return c >= 0x20 && c < 0x7f; }

std::uint64_t parse_digits(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char c : digits) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  return value;
}

}  // namespace

std::string printable(std::string_view bytes, std::size_t limit) {
  std::string text;
  for (const char c : bytes.substr(0, limit)) {
    if (is_printable(c)) {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  if (bytes.size() > limit) text += "...";
  return text;
}

void FrameDecoder::feed(std::string_view bytes) {
  // Consumed frames are cut off only when new bytes arrive and half of the buffer is stale, so
  // that many small frames in one read are not moved once each.
  if (begin_ > buffer_.size() / 2) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  buffer_.append(bytes);
}

std::string FrameDecoder::head() const {
  return printable(std::string_view(buffer_).substr(begin_));
}

std::unexpected<Error> FrameDecoder::broken(const std::string& what) const {
  return fail(fmt::format("broken command stream at byte {}: {}; first bytes: '{}'", consumed_,
                          what, head()));
}

Result<std::optional<Frame>> FrameDecoder::next() {
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  // What is already here is checked before the header is whole: garbage is refused at once, not
  // after a wait for bytes that may never come.
  const std::string_view code = rest.substr(0, 2);
  if (!std::ranges::all_of(code, is_printable)) return broken("the command code is not text");
  const std::string_view digits =
      rest.size() > 2 ? rest.substr(2, static_cast<std::size_t>(framing_.length_digits)) : "";
  if (!std::ranges::all_of(digits, is_digit)) {
    return broken(
        fmt::format("the length '{}' is not {} digits", printable(digits), framing_.length_digits));
  }
  if (rest.size() < header_size()) return std::nullopt;

  const std::uint64_t length = parse_digits(digits);
  if (length > framing_.max_payload) {
    return broken(fmt::format("a payload of {} bytes is over the limit of {} (--max-payload)",
                              length, framing_.max_payload));
  }
  const std::size_t size = header_size() + static_cast<std::size_t>(length);
  if (rest.size() < size) {
    buffer_.reserve(begin_ + size);
    return std::nullopt;
  }
  Frame frame{std::string(code), std::string(rest.substr(header_size(), length))};
  begin_ += size;
  consumed_ += size;
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  }
  return frame;
}

Result<void> encode_frame(const Frame& frame, const Framing& framing, std::string& out) {
  std::size_t limit = framing.max_payload;
  if (framing.length_digits == 6) limit = std::min<std::size_t>(limit, 999'999);
  if (frame.payload.size() > limit) {
    return fail(fmt::format("{}: a payload of {} bytes is over the limit of {}", frame.code,
                            frame.payload.size(), limit));
  }
  fmt::format_to(std::back_inserter(out), "{}{:0{}}", frame.code, frame.payload.size(),
                 framing.length_digits);
  out += frame.payload;
  return {};
}

}  // namespace attune
