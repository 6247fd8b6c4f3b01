#include "manager/control/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/arguments.h"

namespace attune {
namespace {

constexpr std::int64_t kLongestText = 300;  // of an id, a name or a job id
constexpr std::size_t kShown = 40;          // bytes of a word of the client in a message

std::unexpected<Error> mismatch(const std::string& place, const std::string& wanted,
                                const json& found) {
  return fail_at(place, fmt::format("{} expected, not {}", wanted, json_type_name(found)));
}

std::vector<std::string> texts(const json& array) { return array.get<std::vector<std::string>>(); }

Result<void> check_text(const json& schema, const json& value, const std::string& place) {
  if (!value.is_string()) return mismatch(place, "a text", value);
  const auto& text = value.get_ref<const std::string&>();
  if (schema.contains("enum")) {
    const auto words = texts(schema["enum"]);
    if (std::ranges::find(words, text) == words.end())
      return fail_at(place, fmt::format("one of {} expected", fmt::join(words, ", ")));
  } else if (text.empty() || std::ssize(text) > kLongestText) {
    return fail_at(place, fmt::format("a text of 1 to {} bytes expected", kLongestText));
  }
  return {};
}

// 5.0 is a whole number, too: some clients have no other numbers.
Result<void> check_number(const json& schema, const json& value, const std::string& place) {
  const bool whole = schema["type"] == "integer";
  const std::string wanted = whole ? "a whole number" : "a number";
  if (!value.is_number()) return mismatch(place, wanted, value);
  const auto number = value.get<double>();
  const auto least = schema["minimum"].get<double>(), most = schema["maximum"].get<double>();
  if (!(number >= least && number <= most) || (whole && number != std::floor(number)))
    return fail_at(place, fmt::format("{} from {} to {} expected", wanted, least, most));
  return {};
}

Result<void> check_list(const json& schema, const json& value, const std::string& place) {
  if (!value.is_array()) return mismatch(place, "an array", value);
  const auto least = schema["minItems"].get<std::size_t>();
  const auto most = schema["maxItems"].get<std::size_t>();
  if (value.size() < least || value.size() > most)
    return fail_at(place,
                   fmt::format("{} to {} elements expected, not {}", least, most, value.size()));
  for (std::size_t i = 0; i < value.size(); ++i)
    TRY(check_schema(schema["items"], value[i], fmt::format("{}[{}]", place, i)));
  return {};
}

Result<void> check_object(const json& schema, const json& value, const std::string& place) {
  if (!value.is_object()) return mismatch(place, "an object", value);
  if (!schema.contains("properties")) return {};
  const json& members = schema["properties"];
  std::vector<std::string> known;
  for (const auto& [name, ignored] : members.items()) known.push_back(name);
  for (const auto& [name, member] : value.items()) {
    if (members.contains(name)) {
      TRY(check_schema(members[name], member, place + "." + name));
      continue;
    }
    const std::string near = nearest_name(name, known);
    return fail_at(place, fmt::format("unknown member '{}'{}; known: {}", name.substr(0, kShown),
                                      near.empty() ? "" : ", did you mean '" + near + "'?",
                                      fmt::join(known, ", ")));
  }
  for (const std::string& name : texts(schema["required"])) {
    if (!value.contains(name)) return fail_at(place, fmt::format("'{}' is missing", name));
  }
  return {};
}

}  // namespace

json text_schema(const std::string& description) {
  return {{"type", "string"},
          {"description", description},
          {"minLength", 1},
          {"maxLength", kLongestText}};
}

json word_schema(const std::string& description, const std::vector<std::string>& words) {
  return {{"type", "string"}, {"description", description}, {"enum", words}};
}

json integer_schema(const std::string& description, std::int64_t least, std::int64_t most) {
  return {{"type", "integer"}, {"description", description}, {"minimum", least}, {"maximum", most}};
}

json number_schema(const std::string& description, double least, double most) {
  return {{"type", "number"}, {"description", description}, {"minimum", least}, {"maximum", most}};
}

json flag_schema(const std::string& description) {
  return {{"type", "boolean"}, {"description", description}};
}

json open_object_schema(const std::string& description) {
  return {{"type", "object"}, {"description", description}};
}

json list_schema(const std::string& description, const json& elements, std::int64_t least,
                 std::int64_t most) {
  return {{"type", "array"},
          {"description", description},
          {"items", elements},
          {"minItems", least},
          {"maxItems", most}};
}

json with_default(json schema, const json& value) {
  schema["default"] = value;
  return schema;
}

json object_schema(const json& members, const std::vector<std::string>& required) {
  return {{"type", "object"},
          {"properties", members},
          {"required", required},
          {"additionalProperties", false}};
}

Result<void> check_schema(const json& schema, const json& value, const std::string& place) {
  const auto& type = schema["type"].get_ref<const std::string&>();
  if (type == "string") return check_text(schema, value, place);
  if (type == "integer" || type == "number") return check_number(schema, value, place);
  if (type == "array") return check_list(schema, value, place);
  if (type == "object") return check_object(schema, value, place);
  return value.is_boolean() ? Result<void>() : mismatch(place, "true or false", value);
}

}  // namespace attune
