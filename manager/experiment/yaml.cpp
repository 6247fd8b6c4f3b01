#include "manager/experiment/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "manager/experiment/yaml_mistakes.h"

namespace attune {
namespace {

constexpr int kMaxDepth = 200;
constexpr int kMaxValues = 200'000;
constexpr std::size_t kMaxKeys = JsonLimits().keys;  // base/json.h says why
constexpr std::size_t kMaxKeyBytes = 1024;
// Limits of the paths in YamlDocument::marks, in bytes: of one path, and of all together. A path
// contains the paths above it, so that the paths of a small but deep file could fill the memory.
// Beyond the limits a value has the place of one above it.
constexpr std::size_t kMaxPath = 4096, kMaxPaths = 16 << 20;

template <class T, class... Base>
std::optional<T> parse_whole(std::string_view text, Base... base) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<json> parse_number(std::string_view text) {
  if (text == ".nan" || text == ".NaN" || text == ".NAN") {
    return json(std::numeric_limits<double>::quiet_NaN());
  }
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits == ".inf" || digits == ".Inf" || digits == ".INF") {
    const double infinity = std::numeric_limits<double>::infinity();
    return json(negative ? -infinity : infinity);
  }
  // from_chars also knows "inf" and "nan", which are plain texts here.
  if (digits.empty() || digits.find_first_not_of("0123456789.eE+-xabcdfABCDFo") != digits.npos ||
      !(std::isdigit(static_cast<unsigned char>(digits[0])) || digits[0] == '.')) {
    return std::nullopt;
  }
  if (digits.size() == text.size() && (digits.starts_with("0x") || digits.starts_with("0o"))) {
    if (auto value = parse_whole<std::int64_t>(digits.substr(2), digits[1] == 'x' ? 16 : 8)) {
      return json(*value);
    }
    return std::nullopt;
  }
  const std::string_view number = negative ? text : digits;
  if (auto value = parse_whole<std::int64_t>(number)) return json(*value);
  if (auto value = parse_whole<std::uint64_t>(number)) return json(*value);
  if (auto value = parse_whole<double>(number)) return json(*value);
  return std::nullopt;
}

json plain_scalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
    return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (auto number = parse_number(text)) return *std::move(number);
  return text;
}

Mark mark_of(const YAML::Mark& mark) {  // an empty value has -1, -1
  return {std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1};
}

class Converter {
 public:
  Converter(std::string name, std::map<std::string, Mark>& marks, Findings& findings)
      : name_(std::move(name)), marks_(marks), findings_(findings) {}

  json convert(const YAML::Node& node, const std::string& path, int depth) {
    if (depth > kMaxDepth) return stop(node, path, "nested too deeply");
    if (++values_ > kMaxValues) return stop(node, path, "too many values");
    note(path, node);
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        return scalar(node, path);
      case YAML::NodeType::Sequence:
        return sequence(node, path, depth);
      case YAML::NodeType::Map:
        return object(node, path, depth);
      default:
        return nullptr;
    }
  }

  // Whether a limit was exceeded. The converted value is incomplete then.
  bool stopped() const { return stopped_; }

 private:
  void error(const YAML::Node& node, const std::string& path, std::string what) {
    findings_.add({name_, path, mark_of(node.Mark()), std::move(what)});
  }
  json stop(const YAML::Node& node, const std::string& path, std::string what) {
    if (!stopped_) error(node, path, std::move(what));
    stopped_ = true;
    return nullptr;
  }

  static std::string longer(const std::string& path, const std::string& by) {
    return path.size() > kMaxPath ? path : path + by;
  }
  void note(const std::string& path, const YAML::Node& node) {
    if (path.empty() || path.size() > kMaxPaths - noted_) return;
    if (marks_.emplace(path, mark_of(node.Mark())).second) noted_ += path.size();
  }

  // yaml-cpp gives a quoted scalar the tag "!", and a plain one "?".
  json scalar(const YAML::Node& node, const std::string& path) {
    const std::string& tag = node.Tag();
    if (tag == "!" || tag == "tag:yaml.org,2002:str") return node.Scalar();
    if (tag.empty() || tag == "?") return plain_scalar(node.Scalar());
    error(node, path,
          fmt::format("the tag {} is not supported; a text that begins with ! needs quotes", tag));
    return nullptr;
  }

  json sequence(const YAML::Node& node, const std::string& path, int depth) {
    json list = json::array();
    for (const YAML::Node& item : node) {
      const std::string inner = longer(path, fmt::format("[{}]", list.size()));
      list.push_back(convert(item, inner, depth + 1));
      if (stopped_) break;
    }
    return list;
  }

  json object(const YAML::Node& node, const std::string& path, int depth) {
    json result = json::object();
    for (const auto& entry : node) {
      if (stopped_) break;
      if (!entry.first.IsScalar()) {
        error(entry.first, path,
              "a key must be a text; a text that begins with a brace or a bracket needs quotes");
        continue;
      }
      const std::string& key = entry.first.Scalar();
      if (key.size() > kMaxKeyBytes)
        return stop(entry.first, "",
                    fmt::format("a key of more than {} bytes; shorten it, or put quotes around a "
                                "text that is none",
                                kMaxKeyBytes));
      work_ += result.size() + 1;
      if (result.size() >= kMaxKeys || work_ > kMaxKeys * (kMaxKeys + 1))
        return stop(entry.first, path,
                    fmt::format("more than {} keys in one place; make a list of them, or nest them",
                                kMaxKeys));
      const std::string inner = longer(path, path.empty() ? key : "." + key);
      if (result.contains(key)) {
        error(entry.first, inner, "the key appears twice; keep one of them");
        continue;
      }
      note(inner, entry.first);
      result[key] = convert(entry.second, inner, depth + 1);
    }
    return result;
  }

  std::string name_;
  std::map<std::string, Mark>& marks_;
  Findings& findings_;
  bool stopped_ = false;
  int values_ = 0;
  // An upper bound of the comparisons of keys so far: contains() compares a key with all before it.
  std::size_t work_ = 0;
  std::size_t noted_ = 0;  // bytes of the paths in marks_
};

// The line where a second document begins; 0: there is none. Not by YAML::LoadAll(), which does not
// end for some texts. Searching for --- suffices: YAML allows nothing else to begin a line so.
int second_document(std::string_view text) {
  bool begun = false;
  for (int line = 1; !text.empty(); ++line) {
    const std::string_view content = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(content.size() + 1, text.size()));
    const std::size_t first = content.find_first_not_of(" \t\r");
    const bool marker = content.starts_with("---") && content.find_first_of(" \t\r", 3) == 3;
    if ((marker || content == "---") && begun) return line;
    if (first != content.npos && content[first] != '#' && content[first] != '%') begun = true;
  }
  return 0;
}

// Whether all readers of YAML take it for a text, even without quotes.
bool is_plain_text(const std::string& text) {
  constexpr std::string_view kOthers = " yes no on off y n true false null nan inf ";
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto plain = [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '/' || c == '-';
  };
  if (text.empty() || !(letter(text.front()) || text.front() == '/') ||
      !std::ranges::all_of(text, plain))
    return false;
  std::string lower = " " + text + " ";
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return kOthers.find(lower) == kOthers.npos;
}

void write_yaml(YAML::Emitter& out, const std::string& text) {
  if (!is_plain_text(text)) out << YAML::DoubleQuoted;
  out << text;
}

std::string yaml_number(const json& number) {
  if (!number.is_number_float() || std::isfinite(number.get<double>())) return dump_json(number);
  return std::isnan(number.get<double>()) ? ".nan" : number.get<double>() > 0 ? ".inf" : "-.inf";
}

void write_yaml(YAML::Emitter& out, const json& value) {
  if (value.is_object()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginMap;
    for (const auto& [key, each] : value.items()) {
      out << YAML::Key;
      write_yaml(out, key);
      out << YAML::Value;
      write_yaml(out, each);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    const bool flat =
        std::ranges::none_of(value, [](const json& each) { return each.is_structured(); });
    if (flat) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const json& each : value) write_yaml(out, each);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    write_yaml(out, value.get<std::string>());
  } else if (value.is_null()) {
    out << YAML::Null;  // as a string, yaml-cpp would quote it
  } else {
    out << (value.is_number() ? yaml_number(value) : dump_json(value));  // a number or a boolean
  }
}

// Finds out what was wrong with a text from the message of yaml-cpp's exception. The library has
// one class of exception for nearly everything, so the message is compared with the library's own
// constants. This only serves for a better message: the file is refused anyway, and an unknown
// message is shown as it is.
YamlFault fault_of(const std::string& message) {
  namespace said = YAML::ErrorMsg;
  const std::pair<const char*, YamlFault> kFaults[] = {
      {said::TAB_IN_INDENTATION, YamlFault::tab},   {said::MAP_VALUE, YamlFault::value_in_value},
      {said::END_OF_MAP, YamlFault::end_of_map},    {said::END_OF_SEQ, YamlFault::end_of_map},
      {said::END_OF_MAP_FLOW, YamlFault::unclosed}, {said::END_OF_SEQ_FLOW, YamlFault::unclosed},
      {said::FLOW_END, YamlFault::unopened},        {said::UNKNOWN_TOKEN, YamlFault::reserved},
      {said::ALIAS_NOT_FOUND, YamlFault::reserved}, {said::ANCHOR_NOT_FOUND, YamlFault::reserved},
      {said::CHAR_IN_ALIAS, YamlFault::reserved},   {said::CHAR_IN_ANCHOR, YamlFault::reserved},
      {said::BLOCK_ENTRY, YamlFault::list_in_line}, {said::CHAR_IN_BLOCK, YamlFault::behind_block},
  };
  for (const auto& [text, fault] : kFaults) {
    if (message == text) return fault;
  }
  if (message.starts_with(said::INVALID_ESCAPE)) return YamlFault::escape;
  if (message.starts_with(said::UNKNOWN_ANCHOR)) return YamlFault::reserved;
  return YamlFault::other;
}

}  // namespace

std::string yaml_text(const json& value) {
  YAML::Emitter out;
  write_yaml(out, value);
  return std::string(out.c_str()) + "\n";
}

Mark YamlDocument::mark(const std::string& path) const {
  std::string known = path;
  while (true) {
    if (const auto found = marks.find(known); found != marks.end()) return found->second;
    if (known.empty()) return {};
    const std::size_t cut = known.find_last_of(".[");
    known.resize(cut == std::string::npos ? 0 : cut);
  }
}

std::optional<YamlDocument> parse_yaml(const std::string& text, const std::string& name,
                                       Findings& findings) {
  // yaml-cpp reports errors by exceptions; none may leave this file.
  try {
    YamlDocument document;
    Converter converter(name, document.marks, findings);
    document.value = converter.convert(YAML::Load(text), "", 0);
    if (converter.stopped()) return std::nullopt;
    const int line = second_document(text);
    if (line == 0) return document;
    findings.add({name, "", {line, 1}, "there is a second document; only one is possible"});
  } catch (const YAML::Exception& error) {
    // yaml-cpp cannot read all JSON: not a character written as two \u escapes. The JSON reader
    // can, but gives no marks.
    if (auto value = parse_json(text)) return YamlDocument::without_places(*std::move(value));
    YamlMistake mistake = explain_yaml(text, mark_of(error.mark), fault_of(error.msg));
    if (mistake.message.empty()) mistake.message = "not valid YAML: " + error.msg;
    findings.add({name, "", mistake.at, std::move(mistake.message)});
  }
  return std::nullopt;
}

Result<YamlDocument> parse_yaml(const std::string& text, const std::string& name) {
  Findings findings;
  auto document = parse_yaml(text, name, findings);
  TRY(findings.result());
  return *std::move(document);
}

}  // namespace attune
