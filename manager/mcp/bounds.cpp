#include "manager/mcp/bounds.h"

#include <algorithm>

namespace attune {
namespace {

constexpr std::size_t kPageBytes = 40'000;
constexpr std::size_t kElementBytes = 4'000;  // ten of the largest fill a page

constexpr std::size_t kNumberBytes = 8;  // on average; a cut need not be exact

// What of a text of UTF-8 takes at most `bytes` as JSON, without a part of a character at the end.
std::string beginning(const std::string& text, std::size_t bytes) {
  std::size_t end = 0, written = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) end = i;  // a character begins here
    const bool escaped = byte == '"' || byte == '\\';
    written += byte < 0x20 ? 6 : escaped ? 2 : 1;  // \u001b
    if (written > bytes) return text.substr(0, end) + "...";
  }
  return text;
}

json cut(const json& value, std::size_t& left) {
  const auto take = [&left](std::size_t bytes) { left -= std::min(left, bytes); };
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    json part = beginning(text, left);
    take(dump_json(part).size());
    return part;
  }
  if (!value.is_structured()) {
    take(kNumberBytes);
    return value;
  }
  json part = value.is_object() ? json::object() : json::array();
  take(3);
  for (const auto& [name, member] : value.items()) {
    if (left == 0 || name.size() > left) break;  // a trial may choose any name for a metric
    if (value.is_array()) {
      part.push_back(cut(member, left));
      continue;
    }
    take(name.size() + 4);
    part[name] = cut(member, left);
  }
  return part;
}

}  // namespace

bool Page::skip() {
  if (seen_ >= offset_) return false;
  ++seen_;
  return true;
}

bool Page::add(const json& element) {
  const json kept = shortened(element, kElementBytes);
  const std::size_t bytes = dump_json(kept).size();
  more_ = std::ssize(elements_) >= limit_ || (!elements_.empty() && bytes_ + bytes > kPageBytes);
  if (more_) return false;
  bytes_ += bytes;
  elements_.push_back(kept);
  return true;
}

void Page::put(json& answer, const char* key) const {
  answer[key] = elements_;
  answer["more"] = more_;
  if (more_) answer["next_offset"] = offset_ + std::ssize(elements_);
}

void keep_few(json& answer, const char* key, std::int64_t limit, bool newest) {
  const json list = std::move(answer[key]);
  const std::int64_t left_out = std::max<std::int64_t>(std::ssize(list) - limit, 0);
  json& kept = answer[key] = json::array();
  const std::int64_t first = newest ? left_out : 0;
  for (std::int64_t i = first; i < first + std::ssize(list) - left_out; ++i)
    kept.push_back(shortened(list[static_cast<std::size_t>(i)], kElementBytes));
  if (left_out > 0) answer["left_out"][key] = left_out;
}

json shortened(const json& value, std::size_t bytes) {
  if (dump_json(value).size() <= bytes) return value;
  std::size_t left = bytes;
  json part = cut(value, left);
  if (part.is_object()) part["shortened"] = true;
  return part;
}

}  // namespace attune
