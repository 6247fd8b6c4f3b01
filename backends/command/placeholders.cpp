#include "backends/command/placeholders.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/arguments.h"
#include "base/trimmed.h"

namespace attune {
namespace {

// Whether a person may have meant `text` as a name; a piece of JSON, awk or CSS is not one.
bool is_word(std::string_view text) {
  constexpr std::string_view kMore = "_.-";
  const auto letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  const auto of_word = [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || kMore.find(c) != std::string_view::npos;
  };
  return !text.empty() && (letter(text[0]) || text[0] == '_') && std::ranges::all_of(text, of_word);
}

// The text between the brace at `open` and the next brace; empty if the next one opens another.
std::string_view inside(std::string_view text, std::size_t open) {
  const std::size_t end = text.find_first_of("{}", open + 1);
  if (end == std::string_view::npos || text[end] == '{') return {};
  return text.substr(open + 1, end - open - 1);
}

std::string where(std::string_view text, std::size_t at) {
  if (text.find('\n') == std::string_view::npos) return "";
  return fmt::format("line {}: ", 1 + std::ranges::count(text.substr(0, at), '\n'));
}

std::string did_you_mean(std::string_view word, std::string_view near) {
  return fmt::format(
      "{{{}}} is no parameter; did you mean {{{}}}? (For the text itself write {{{{{}}}}}.)", word,
      near, word);
}

void flatten(const json& object, const std::string& prefix, ParameterValues& values) {
  for (const auto& [key, value] : object.items()) {
    std::string name = prefix + key;
    if (value.is_object()) flatten(value, name + ".", values);
    values.insert_or_assign(std::move(name), value);
  }
}

}  // namespace

ParameterNames::ParameterNames(std::vector<std::string> names) : names_(std::move(names)) {
  std::ranges::sort(names_);
  const auto doubled = std::ranges::unique(names_);
  names_.erase(doubled.begin(), doubled.end());
}

bool ParameterNames::contains(std::string_view name) const {
  return std::ranges::binary_search(names_, name);
}

std::string ParameterNames::meant(std::string_view word) const {
  const std::string_view plain = trimmed(word);
  if (contains(plain)) return std::string(plain);
  // Python's {lr:.3f} and {lr!r}; {lr: 1} is a mapping of YAML.
  const std::size_t format = plain.find_first_of(":!");
  if (format != std::string_view::npos && format + 1 < plain.size() && plain[format + 1] != ' ' &&
      contains(plain.substr(0, format)))
    return std::string(plain.substr(0, format));
  if (!is_word(word)) return "";
  const auto nested = std::ranges::find_if(
      names_, [&](const std::string& name) { return name.ends_with("." + std::string(word)); });
  return nested != names_.end() ? *nested : nearest_name(word, names_);
}

Result<std::vector<TextPiece>> split_placeholders(std::string_view text,
                                                  const ParameterNames& names, Braces braces) {
  std::vector<TextPiece> pieces;
  std::string plain;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = std::min(text.find('{', at), text.size());
    plain += text.substr(at, open - at);
    at = open;
    if (at == text.size()) break;
    const bool doubled = text.substr(at).starts_with("{{");
    const std::string_view word = inside(text, at + (doubled ? 1 : 0));
    const bool known = names.contains(word);
    const std::string near = known ? "" : names.meant(word);
    const bool shell = at > 0 && text[at - 1] == '$';
    const bool any = braces == Braces::of_command && is_word(word);
    if (doubled && (known || !near.empty() || any) &&
        text.substr(at + word.size() + 2).starts_with("}}")) {
      plain += fmt::format("{{{}}}", word);
      at += word.size() + 4;
    } else if (doubled || shell || (!known && near.empty())) {
      plain += '{';
      ++at;
    } else if (!known) {
      return fail(where(text, at) + did_you_mean(word, near));
    } else {
      if (!plain.empty()) pieces.push_back({std::exchange(plain, {}), false});
      pieces.push_back({std::string(word), true});
      at += word.size() + 2;
    }
  }
  if (!plain.empty()) pieces.push_back({std::move(plain), false});
  return pieces;
}

Result<void> check_placeholders(std::string_view text, const ParameterNames& names) {
  constexpr std::size_t kMostNames = 10;
  std::vector<std::string> known = names.all();
  const bool more = known.size() > kMostNames;
  if (more) known.resize(kMostNames);
  std::vector<std::string> wrong;
  const auto add = [&](std::string message) {
    if (std::ranges::find(wrong, message) == wrong.end()) wrong.push_back(std::move(message));
  };
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at)) {
    if (text.substr(at).starts_with("{{")) {
      at += 2;
      continue;
    }
    const std::string_view word = inside(text, at);
    const bool shell = at > 0 && text[at - 1] == '$';
    const bool literal = shell || (at > 0 && text[at - 1] == '\\');
    const std::string near = names.contains(word) || shell ? "" : names.meant(word);
    if (!near.empty()) {
      add(where(text, at) + did_you_mean(word, near));
    } else if (!literal && is_word(word) && !names.contains(word)) {
      add(fmt::format(
          "{}{{{}}} is no parameter; the search space has {}{} (for the text itself write "
          "{{{{{}}}}})",
          where(text, at), word, fmt::join(known, ", "), more ? ", ..." : "", word));
    }
    ++at;
  }
  if (wrong.empty()) return {};
  return fail(fmt::format("{}", fmt::join(wrong, "; ")));
}

std::vector<std::string> parameters_in(const std::vector<TextPiece>& pieces) {
  std::vector<std::string> names;
  for (const TextPiece& piece : pieces) {
    if (piece.is_parameter) names.push_back(piece.text);
  }
  return names;
}

Result<ParameterValues> parameter_values(const std::string& parameter_text) {
  const json payload = TRY(parse_json(parameter_text));
  const auto parameters = payload.find("parameters");
  if (!payload.is_object() || parameters == payload.end() || !parameters->is_object())
    return fail("the configuration has no object \"parameters\", whose values the trial needs");
  ParameterValues values;
  flatten(*parameters, "", values);
  return values;
}

std::string value_as_text(const ParameterValues& values, std::string_view name) {
  const auto found = values.find(name);
  if (found == values.end()) return "";
  return found->second.is_string() ? found->second.get<std::string>() : dump_json(found->second);
}

Result<std::string> fill_in(std::string_view text, const ParameterNames& names,
                            const ParameterValues& values) {
  std::string filled;
  for (const TextPiece& piece : TRY(split_placeholders(text, names, Braces::of_command)))
    filled += piece.is_parameter ? value_as_text(values, piece.text) : piece.text;
  if (filled.find('\0') != std::string::npos)
    return fail("a value holds a byte 0, which neither a command nor a variable can");
  return filled;
}

}  // namespace attune
