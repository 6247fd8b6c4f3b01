#include "protocol/message.h"

#include <fmt/format.h>

#include "base/json.h"

namespace attune {
namespace {

// A message is two texts. Their sizes need no limits here: the channel limits the whole message.
constexpr JsonLimits kMessage{.depth = 8, .keys = 100, .elements = 1000, .values = 1000};

Result<Frame> decode_json(std::string_view message) {
  const json value = TRY(parse_json(message, kMessage));
  if (!value.is_object()) {
    return fail(fmt::format("an object expected, not {}", json_type_name(value)));
  }
  const auto type = value.find("type");
  if (type == value.end() || !type->is_string()) return fail("\"type\" with a command is missing");
  Frame frame{type->get<std::string>(), ""};
  if (frame.code.size() != 2 && frame.code != kBye && frame.code != kNop) {
    return fail(fmt::format("unknown type \"{}\"", printable(frame.code)));
  }
  if (const auto content = value.find("content"); content != value.end() && !content->is_null()) {
    if (!content->is_string()) {
      return fail(fmt::format("\"content\": a string expected, not {}", json_type_name(*content)));
    }
    frame.payload = content->get<std::string>();
  }
  return frame;
}

}  // namespace

Dialect dialect_of(std::string_view first_message) {
  return first_message.starts_with('{') ? Dialect::v3 : Dialect::v2;
}

Result<Frame> decode_message(Dialect dialect, std::string_view message) {
  if (dialect == Dialect::v3) return decode_json(message);
  if (message.size() < 2) return fail("a command of two letters expected");
  return Frame{std::string(message.substr(0, 2)), std::string(message.substr(2))};
}

std::string encode_message(Dialect dialect, const Frame& frame) {
  if (dialect == Dialect::v2) return frame.code + frame.payload;
  json message = {{"type", frame.code}};
  if (frame.code != kBye) message["content"] = frame.payload;
  return dump_json(message);
}

}  // namespace attune
