#include "backends/command/template_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "protocol/frame.h"

namespace attune {
namespace {

constexpr std::array<std::pair<std::string_view, TemplateFormat>, 4> kFormats = {
    {{"text", TemplateFormat::as_text},
     {"json", TemplateFormat::as_json},
     {"toml", TemplateFormat::as_toml},
     {"xml", TemplateFormat::as_xml}}};

// Follows the quotes of JSON and TOML.
class Quotes {
 public:
  explicit Quotes(TemplateFormat format) : toml_(format == TemplateFormat::as_toml) {}

  void take(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) at += step(text.substr(at));
  }
  bool inside() const { return !open_.empty(); }
  bool literal() const { return open_.starts_with('\''); }  // TOML: without escapes
  bool comment() const { return comment_; }

 private:
  std::size_t step(std::string_view rest) {
    const char c = rest[0];
    if (comment_) {
      comment_ = c != '\n';
      return 1;
    }
    if (inside()) {
      if (c == '\\' && !literal()) return 2;
      if (!rest.starts_with(open_)) return 1;
      return std::exchange(open_, {}).size();
    }
    comment_ = toml_ && c == '#';
    if (c != '"' && !(toml_ && c == '\'')) return 1;
    const std::string three(3, c);
    open_ = toml_ && rest.starts_with(three) ? three : three.substr(0, 1);
    return open_.size();
  }

  bool toml_;
  bool comment_ = false;
  std::string open_;  // the quotes that the string began with, and ends with
};

// The text in quotes. TOML requires the byte 127 to be escaped; JSON allows it.
std::string quoted(const std::string& text) {
  std::string result = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  for (std::size_t at = 0; (at = result.find('\x7f', at)) != std::string::npos;)
    result.replace(at, 1, "\\u007f");
  return result;
}

Result<std::string> toml_literal(const json& value) {
  if (value.is_null()) return fail("it is null, for which TOML has no word");
  if (value.is_string()) return quoted(value.get<std::string>());
  if (!value.is_structured()) return dump_json(value);
  std::string text;
  for (const auto& [key, item] : value.items()) {
    text += text.empty() ? "" : ", ";
    if (value.is_object()) text += quoted(key) + " = ";
    text += TRY(toml_literal(item));
  }
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

std::string xml_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&apos;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

Result<std::string> in_quotes(const Quotes& quotes, const std::string& text) {
  if (!quotes.literal()) {
    const std::string escaped = quoted(text);
    return escaped.substr(1, escaped.size() - 2);
  }
  if (std::ranges::any_of(text, [](unsigned char c) { return c == '\'' || c < ' ' || c == 127; }))
    return fail("its value cannot stand in '...' quotes; use \"...\"");
  return text;
}

Result<std::string> render(TemplateFormat format, const Quotes& quotes, const std::string& name,
                           const ParameterValues& values) {
  if (format == TemplateFormat::as_text) return value_as_text(values, name);
  if (format == TemplateFormat::as_xml) return xml_escaped(value_as_text(values, name));
  if (quotes.inside()) return in_quotes(quotes, value_as_text(values, name));
  if (quotes.comment()) return quoted(value_as_text(values, name));
  const auto found = values.find(name);
  const json value = found == values.end() ? json() : found->second;
  if (format == TemplateFormat::as_json) return dump_json(value);
  return toml_literal(value);
}

std::size_t lines(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

// The number, from 1, of the byte at which the text stops being JSON; 0 if it is JSON. Comments are
// not allowed: a quote in a comment would swap what is inside and outside of quotes.
std::size_t json_flaw(const std::string& text) {
  try {
    const json parsed = json::parse(text);
  } catch (const json::parse_error& error) {
    return std::max<std::size_t>(error.byte, 1);
  } catch (const json::exception&) {
    return 1;
  }
  return 0;
}

}  // namespace

std::optional<TemplateFormat> parse_template_format(const std::string& name) {
  const auto found =
      std::ranges::find(kFormats, name, [](const auto& format) { return format.first; });
  if (found == kFormats.end()) return std::nullopt;
  return found->second;
}

TemplateFormat format_of_file(const std::string& file) {
  const std::size_t point = file.rfind('.');
  if (point == std::string::npos) return TemplateFormat::as_text;
  return parse_template_format(file.substr(point + 1)).value_or(TemplateFormat::as_text);
}

Result<std::string> render_template(const TemplateFile& file, const ParameterNames& names,
                                    const ParameterValues& values) {
  auto pieces = split_placeholders(file.text, names, Braces::of_file);
  if (!pieces) return fail(fmt::format("{}: {}", file.name, pieces.error().message));
  Quotes quotes(file.format);
  std::string result;
  std::size_t line = 1;  // of the template
  for (const TextPiece& piece : *pieces) {
    if (!piece.is_parameter) {
      quotes.take(piece.text);
      line += lines(piece.text);
      result += piece.text;
      continue;
    }
    auto value = render(file.format, quotes, piece.text, values);
    if (!value)
      return fail(fmt::format("{}, line {}: {{{}}}: {}", file.name, line, piece.text,
                              value.error().message));
    result += *value;  // in JSON and TOML a value has no line end: each belongs to the template
  }
  if (file.format == TemplateFormat::as_json) {
    if (const std::size_t at = json_flaw(result); at > 0) {
      const std::string_view before = std::string_view(result).substr(0, at - 1);
      return fail(fmt::format("{}, line {}: what is rendered is no JSON; found '{}'", file.name,
                              1 + lines(before), printable(result.substr(at - 1), 40)));
    }
  }
  return result;
}

Result<std::vector<std::string>> check_template(const TemplateFile& file,
                                                const ParameterNames& names) {
  auto pieces = split_placeholders(file.text, names, Braces::of_file);
  if (!pieces) return fail(fmt::format("{}: {}", file.name, pieces.error().message));
  if (file.format == TemplateFormat::as_json) TRY(render_template(file, names, {}));
  return parameters_in(*pieces);
}

}  // namespace attune
