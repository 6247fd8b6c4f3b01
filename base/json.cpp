#include "base/json.h"

#include <charconv>
#include <cmath>
#include <vector>

namespace attune {
namespace {

// Error messages go to terminals and into frames, whatever the bytes are that they quote.
std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '.';
  }
  return text;
}

std::string around(std::string_view text, std::size_t at) {
  const std::size_t from = at < 20 ? 0 : at - 20;
  return std::string(text.substr(from, 40));
}

// Checks the limits in one pass before parsing, so that a hostile text (deep nesting, a huge
// object, millions of tiny values) costs neither stack nor quadratic time nor memory.
class LimitCheck {
 public:
  LimitCheck(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

  Result<void> run() {
    while (at_ < text_.size()) {
      switch (text_[at_]) {
        case '"':
          TRY(skip_string());
          continue;
        case '[':
        case '{':
          if (open_.size() >= limits_.depth)
            return beyond("nested deeper than", "levels", limits_.depth);
          open_.push_back({text_[at_] == '{', 0});
          ++values_;
          break;
        case ']':
        case '}':
          if (!open_.empty()) open_.pop_back();
          break;
        case ':':
          if (in(true)) TRY(add_key());
          break;
        case ',':
          // An array has one comma fewer than elements: with this comma it has more than the limit.
          if (in(false) && ++open_.back().parts >= limits_.elements) {
            return beyond("array with more than", "elements", limits_.elements);
          }
          ++values_;
          break;
        default:
          break;
      }
      if (values_ > limits_.values) return beyond("with more than", "values", limits_.values);
      ++at_;
    }
    return {};
  }

 private:
  struct Bracket {
    bool object;
    std::size_t parts;  // colons of an object, commas of an array
  };

  bool in(bool object) const { return !open_.empty() && open_.back().object == object; }

  // Finding a key is linear, so the work of an object grows with the square of its keys.
  Result<void> add_key() {
    work_ += ++open_.back().parts;
    if (open_.back().parts > limits_.keys) {
      return beyond("object with more than", "keys", limits_.keys);
    }
    if (work_ > limits_.keys * (limits_.keys + 1)) {
      return beyond("with objects that are more work than two of", "keys", limits_.keys);
    }
    return {};
  }

  Result<void> skip_string() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    const std::size_t size = at_ - begin;  // quotes included
    if (size <= 2 || size - 2 <= limits_.string_bytes) return {};
    at_ = begin;
    return beyond("with a string of more than", "bytes", limits_.string_bytes);
  }

  std::unexpected<Error> beyond(const char* what, const char* unit, std::size_t limit) const {
    return fail(std::string("JSON ") + what + " " + std::to_string(limit) + " " + unit +
                " at byte " + std::to_string(at_));
  }

  const std::string_view text_;
  const JsonLimits& limits_;
  std::size_t at_ = 0;
  std::size_t values_ = 1;
  std::size_t work_ = 0;  // most comparisons of keys that parsing may need
  std::vector<Bracket> open_;
};

Result<void> check_limits(std::string_view text, const JsonLimits& limits) {
  return LimitCheck(text, limits).run();
}

bool starts_number(char c) { return c == '-' || (c >= '0' && c <= '9'); }
bool in_number(char c) { return starts_number(c) || c == '+' || c == '.' || c == 'e' || c == 'E'; }

// The strict parser has no token for infinities and NaN. Numbers that it cannot hold are written as
// strings with this mark, and restore() turns them back. A string of the text that could be
// mistaken for such a mark (it starts with U+0000) gets the mark with kVerbatim.
constexpr std::string_view kMark = "\\u0000attune:";
constexpr char kVerbatim = '=';

// Rewrites what Python's json writes and strict JSON does not allow. Strings stay as they are.
std::string rewrite_dialect(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  auto mark = [&out](std::string_view name) {
    out.append("\"").append(kMark).append(name).append("\"");
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (rest.front() == '"') {
      std::size_t end = 1;
      while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, rest.size());
      const std::size_t next = rest.find_first_not_of(" \t\r\n", end);
      const bool key = next != rest.npos && rest[next] == ':';
      std::string_view string = rest.substr(0, end);
      if (!key && string.starts_with("\"\\u0000")) {
        out.append("\"").append(kMark).push_back(kVerbatim);
        string.remove_prefix(1);
      }
      out.append(string);
      i += end;
    } else if (rest.front() == '#' || rest.starts_with("//")) {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (rest.starts_with("NaN")) {
      mark("nan");
      i += 3;
    } else if (rest.starts_with("Infinity")) {
      mark("inf");
      i += 8;
    } else if (rest.starts_with("-Infinity")) {
      mark("-inf");
      i += 9;
    } else if (starts_number(rest.front())) {
      std::size_t end = 1;
      while (end < rest.size() && in_number(rest[end])) ++end;
      const std::string_view number = rest.substr(0, end);
      double value = 0;
      const auto parsed = std::from_chars(number.data(), number.data() + end, value);
      const bool too_large = parsed.ec == std::errc::result_out_of_range &&
                             number.find("e-") == number.npos && number.find("E-") == number.npos;
      if (too_large) {
        mark(number.front() == '-' ? "-inf" : "inf");
      } else {
        out.append(number);
      }
      i += end;
    } else {
      out.push_back(rest.front());
      ++i;
    }
  }
  return out;
}

void restore(json& value) {
  if (value.is_structured()) {
    for (auto& child : value) restore(child);
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.starts_with(std::string_view("\0attune:", 8))) {
      const std::string_view name = std::string_view(text).substr(8);
      if (name == "nan") {
        value = std::nan("");
      } else if (name == "inf") {
        value = HUGE_VAL;
      } else if (name == "-inf") {
        value = -HUGE_VAL;
      } else {
        value = std::string(name.substr(1));  // kVerbatim
      }
    }
  }
}

}  // namespace

Result<json> parse_json(std::string_view text, const JsonLimits& limits,
                        std::optional<std::size_t>* wrong_at) {
  const Result<void> within = check_limits(text, limits);
  json value;
  if (within) value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (within && !value.is_discarded()) return value;
  // Checks again without the comments: a quote in a comment may have hidden brackets from the first
  // check, and a bracket in a comment was counted.
  const std::string rewritten = rewrite_dialect(text);
  if (const auto again = check_limits(rewritten, limits); !again) {
    return std::unexpected(within ? again.error() : within.error());
  }
  value = json::parse(rewritten, nullptr, false);
  if (!value.is_discarded()) {
    restore(value);
    return value;
  }
  try {  // parses again: only the throwing form says where and why
    return json::parse(text);
  } catch (const json::parse_error& error) {
    // Shortened for the reader; nothing is decided by it.
    const std::string_view what = error.what();
    const auto colon = what.rfind("; ");
    const std::size_t at = error.byte > 0 ? error.byte - 1 : 0;
    if (wrong_at != nullptr) *wrong_at = at;
    return fail(
        printable("invalid JSON at byte " + std::to_string(at) + ": " +
                  std::string(colon == what.npos ? "syntax error" : what.substr(colon + 2)) +
                  ", near '" + around(text, at) + "'"));
  } catch (const json::exception& error) {
    return fail(printable("invalid JSON: " + std::string(error.what())));
  }
}

std::string dump_json(const json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
}

bool is_utf8(const std::string& text) {
  try {
    return !json(text).dump().empty();
  } catch (const json::type_error&) {
    return false;
  }
}

std::size_t memory_of(const json& value) {
  std::size_t bytes = 0;
  if (value.is_string()) {
    bytes = sizeof(std::string) + value.get_ref<const std::string&>().capacity();
  } else if (value.is_object()) {
    bytes = sizeof(json::object_t);
    for (const auto& [name, member] : value.items()) {
      bytes += sizeof(json::object_t::value_type) + name.capacity() + memory_of(member);
    }
  } else if (value.is_array()) {
    bytes = sizeof(json::array_t);
    for (const json& element : value) bytes += sizeof(json) + memory_of(element);
  }
  constexpr std::size_t kBlock = 16;  // the allocator's own overhead
  return bytes == 0 ? 0 : bytes + kBlock;
}

json to_json(const Rng& rng) {
  json words = json::array();
  for (const auto word : rng.state()) {
    char text[16];
    const auto end = std::to_chars(text, text + sizeof text, word, 16).ptr;
    words.push_back(std::string(text, end));
  }
  return words;
}

Result<Rng> rng_from_json(const json& value) {
  Rng::State state{};
  if (!value.is_array() || value.size() != state.size()) {
    return fail("random number generator: four words expected");
  }
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (!value[i].is_string()) return fail("random number generator: words must be texts");
    const auto& text = value[i].get_ref<const std::string&>();
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), state[i], 16);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
      return fail("random number generator: \"" + text + "\" is not a hexadecimal word");
    }
  }
  // xoshiro cannot leave this state: it would give only zeros.
  if (state == Rng::State{}) return fail("random number generator: all words are zero");
  return Rng(state);
}

std::string_view json_type_name(const json& value) {
  switch (value.type()) {
    case json::value_t::null:
      return "null";
    case json::value_t::boolean:
      return "a boolean";
    case json::value_t::string:
      return "a string";
    case json::value_t::array:
      return "an array";
    case json::value_t::object:
      return "an object";
    case json::value_t::number_float:
      return "a number";
    case json::value_t::number_integer:
    case json::value_t::number_unsigned:
      return "an integer";
    default:
      return "nothing";
  }
}

}  // namespace attune
