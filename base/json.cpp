#include "base/json.h"

#include <charconv>
#include <cmath>
#include <vector>

namespace attune {
namespace {

// Messages go to terminals and into frames, whatever the bytes were that they are about.
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

// One pass before parsing: hostile nesting or a huge object must cost neither the stack nor
// quadratic time.
Result<void> check_limits(std::string_view text, const JsonLimits& limits) {
  std::vector<int> keys;  // colons seen in each open bracket
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    switch (c) {
      case '"':
        in_string = true;
        break;
      case '[':
      case '{':
        if (std::ssize(keys) >= limits.depth) {
          return fail("JSON nested deeper than " + std::to_string(limits.depth) +
                      " levels at byte " + std::to_string(i));
        }
        keys.push_back(0);
        break;
      case ']':
      case '}':
        if (!keys.empty()) keys.pop_back();
        break;
      case ':':
        if (!keys.empty() && ++keys.back() > limits.keys) {
          return fail("JSON object with more than " + std::to_string(limits.keys) +
                      " keys at byte " + std::to_string(i));
        }
        break;
      default:
        break;
    }
  }
  return {};
}

bool starts_number(char c) { return c == '-' || (c >= '0' && c <= '9'); }
bool in_number(char c) { return starts_number(c) || c == '+' || c == '.' || c == 'e' || c == 'E'; }

// The strict parser has no token for infinities and NaN: numbers that it cannot hold are written
// as strings with this mark and turned back by `restore`. A string that could be taken for one
// (it starts with U+0000) is marked too, as kVerbatim.
constexpr std::string_view kMark = "\\u0000attune:";
constexpr char kVerbatim = '=';

// Rewrites what Python's json writes and JSON lacks; everything inside strings stays as it is.
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

Result<json> parse_json(std::string_view text, const JsonLimits& limits) {
  const Result<void> within = check_limits(text, limits);
  json value;
  if (within) value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (within && !value.is_discarded()) return value;
  // Once more without the comments: a quote in one hides brackets, a bracket in one counted.
  const std::string rewritten = rewrite_dialect(text);
  if (const auto again = check_limits(rewritten, limits); !again) {
    return std::unexpected(within ? again.error() : within.error());
  }
  value = json::parse(rewritten, nullptr, false);
  if (!value.is_discarded()) {
    restore(value);
    return value;
  }
  try {  // once more for the place and the reason, which only the throwing form tells
    return json::parse(text);
  } catch (const json::parse_error& error) {
    const std::string_view what = error.what();
    const auto colon = what.rfind("; ");
    const std::size_t at = error.byte > 0 ? error.byte - 1 : 0;
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
  // The one state that xoshiro cannot leave.
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
