#include "dashboard/http_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/json.h"

namespace attune {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// `plus`: "+" means a blank, as in a query.
Result<std::string> decoded(std::string_view text, bool plus) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus) {
      result += ' ';
    } else if (text[i] != '%') {
      result += text[i];
    } else {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = high < 0 ? -1 : hex_digit(text[i + 2]);
      if (low < 0) return fail("the URL has a % without two hexadecimal digits behind it");
      result += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return result;
}

Result<std::string> segment(std::string_view text) {
  std::string name = TRY(decoded(text, false));
  const bool plain = std::ranges::none_of(
      name, [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '/' || c == '\\'; });
  if (name.empty() || name == "." || name == ".." || !plain || !is_utf8(name))
    return fail("the URL has a part that is empty, a dot, or no plain name");
  return name;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string first_of(const std::vector<std::pair<std::string, std::string>>& pairs,
                     std::string_view name) {
  for (const auto& [key, value] : pairs)
    if (key == name) return value;
  return "";
}

// Calls `each` with the parts of `text` between the separators.
template <class Each>
Result<void> for_parts(std::string_view text, char separator, const Each& each) {
  while (true) {
    const std::size_t end = text.find(separator);
    TRY(each(text.substr(0, end)));
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string HttpTarget::value(std::string_view name) const { return first_of(query, name); }

Result<HttpTarget> parse_target(std::string_view text) {
  if (text.empty() || text.front() != '/') return fail("the URL must begin with a slash");
  HttpTarget target;
  const std::size_t question = text.find('?');
  std::string_view path =
      text.substr(1, question == std::string_view::npos ? question : question - 1);
  if (!path.empty() && path.back() == '/') path.remove_suffix(1);
  if (!path.empty()) {
    TRY(for_parts(path, '/', [&](std::string_view part) -> Result<void> {
      target.path.push_back(TRY(segment(part)));
      return {};
    }));
  }
  if (question == std::string_view::npos) return target;
  TRY(for_parts(text.substr(question + 1), '&', [&](std::string_view part) -> Result<void> {
    if (part.empty()) return {};
    const std::size_t equals = part.find('=');
    std::string name = TRY(decoded(part.substr(0, equals), true));
    std::string value =
        equals == std::string_view::npos ? "" : TRY(decoded(part.substr(equals + 1), true));
    if (!is_utf8(name) || !is_utf8(value)) return fail("the URL's query is not UTF-8");
    target.query.emplace_back(std::move(name), std::move(value));
    return {};
  }));
  return target;
}

std::string HttpRequest::header(std::string_view name) const { return first_of(headers, name); }

std::string HttpRequest::cookie(std::string_view name) const {
  std::string found;
  for (const auto& [key, value] : headers) {
    if (key != "cookie") continue;
    // It cannot fail: the function that it calls does not.
    std::ignore = for_parts(value, ';', [&](std::string_view part) -> Result<void> {
      part = trimmed(part);
      const std::size_t equals = part.find('=');
      if (found.empty() && equals != std::string_view::npos && part.substr(0, equals) == name)
        found = part.substr(equals + 1);
      return {};
    });
  }
  return found;
}

HttpResponse HttpResponse::text(int status, std::string type, std::string body) {
  return {status, std::move(type), std::make_shared<const std::string>(std::move(body)), {}};
}

}  // namespace attune
