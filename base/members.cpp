#include "base/members.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/arguments.h"
#include "base/names.h"

namespace attune {

Result<Members> Members::of(const json& value, std::string place,
                            const std::vector<std::string>& known) {
  if (!value.is_object()) {
    return fail_at(std::move(place),
                   fmt::format("must be an object, not {}", json_type_name(value)));
  }
  for (const auto& [key, unused] : value.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string near = nearest_name(key, known);
    const std::string hint = near.empty() ? "" : fmt::format("did you mean \"{}\"? ", near);
    return fail_at(std::move(place),
                   fmt::format("unknown member {}; {}Known: {}", dump_json(key.substr(0, 100)),
                               hint, fmt::join(known, ", ")));
  }
  return Members(value, std::move(place));
}

const json& Members::get(const char* key) const {
  static const json none;
  const auto found = value_.find(key);
  return found == value_.end() ? none : *found;
}

Result<bool> Members::boolean(const char* key) const {
  const json& value = get(key);
  if (value.is_null()) return false;
  if (!value.is_boolean()) return wrong(key, "true or false");
  return value.get<bool>();
}

Result<std::string> Members::line(const char* key) const {
  if (!has(key)) return std::string();
  std::string line = TRY(text(key));
  if (line.empty()) return line;
  if (auto fine = check_printable("a text", line); !fine) {
    return fail_at(at(key), fine.error().message);
  }
  return line;
}

Result<std::optional<double>> Members::number(const char* key) const {
  const json& value = get(key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    return wrong(key, "a finite number");
  }
  return value.get<double>();
}

Result<std::vector<json>> Members::array(const char* key, std::size_t most) const {
  const json& value = get(key);
  if (value.is_null()) return std::vector<json>();
  if (!value.is_array()) return wrong(key, "an array");
  if (value.size() > most) return fail_at(at(key), fmt::format("at most {} are possible", most));
  return value.get<std::vector<json>>();
}

Result<std::string> Members::text(const char* key) const {
  const json& value = get(key);
  if (!value.is_string()) return wrong(key, "a text");
  return value.get<std::string>();
}

Result<std::string> Members::name(const char* key) const {
  std::string name = TRY(text(key));
  if (auto fine = check_name("the name", name); !fine) {
    return fail_at(at(key), fine.error().message);
  }
  return name;
}

Result<std::int64_t> Members::integer(const char* key) const {
  const json& value = get(key);
  const bool whole = value.is_number_unsigned()
                         ? std::in_range<std::int64_t>(value.get<std::uint64_t>())
                         : value.is_number_integer();
  if (!whole) return wrong(key, "an integer");
  return value.get<std::int64_t>();
}

std::unexpected<Error> Members::wrong(const char* key, std::string_view expected) const {
  const json& value = get(key);
  if (value.is_null()) return fail_at(at(key), fmt::format("{} is missing", expected));
  return fail_at(at(key), fmt::format("must be {}, not {}", expected, json_type_name(value)));
}

}  // namespace attune
