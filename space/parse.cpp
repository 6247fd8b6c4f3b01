#include "space/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "space/parse_domain.h"

namespace attune {
namespace {

constexpr std::size_t kMaxParams = 10'000;

// A nested choice: every candidate is an object with a name. Otherwise objects are plain values.
bool is_nested(const json& value) {
  return value.is_array() && !value.empty() && std::ranges::all_of(value, [](const json& option) {
           return option.is_object() && option.contains("_name");
         });
}

// Recursion is as deep as the JSON, which parse_json bounds.
class Parser {
 public:
  // The parameters of one object, of the space or of an option (whose `_name` is none).
  Result<void> object(const json& members, const std::string& prefix,
                      const std::optional<Condition>& condition) {
    for (const auto& [name, spec] : members.items()) {
      if (condition && name == "_name") continue;
      TRY(param(spec, name, prefix + name, condition));
    }
    return {};
  }

  Space take() { return std::move(space_); }

 private:
  Result<void> param(const json& spec, const std::string& name, const std::string& path,
                     const std::optional<Condition>& condition) {
    const std::string full = "search_space." + path;
    if (space_.params.size() == kMaxParams) {
      return fail(fmt::format("{}: at most {} parameters are possible", full, kMaxParams));
    }
    if (!spec.is_object()) {
      return fail(fmt::format("{}: must be an object with _type and _value, not {}", full,
                              json_type_name(spec)));
    }
    for (const char* key : {"_type", "_value"}) {
      if (!spec.contains(key)) {
        return fail(
            fmt::format("{}.{}: missing; write {{\"_type\": ..., \"_value\": ...}}", full, key));
      }
    }
    const json& type = spec["_type"];
    const json& value = spec["_value"];
    if (!type.is_string()) {
      return fail(
          fmt::format("{}._type: must be the name of a type, not {}", full, json_type_name(type)));
    }
    if (type == "choice" && is_nested(value)) return nested(value, name, path, condition);
    Domain domain = TRY(parse_domain(full, type.get<std::string>(), value));
    space_.params.push_back({name, path, std::move(domain), condition});
    return {};
  }

  Result<void> nested(const json& options, const std::string& name, const std::string& path,
                      const std::optional<Condition>& condition) {
    TRY(check_candidates("search_space." + path + "._value", options));
    Choice choice{.candidates = {}, .canonical = {}, .nested = true};
    std::set<std::string> names;
    for (std::size_t i = 0; i < options.size(); ++i) {
      const json& option_name = options[i]["_name"];
      if (!names.insert(canonical_text(option_name)).second) {
        return fail(fmt::format("search_space.{}[{}]._name: {} is the name of an earlier option",
                                path, i, dump_json(option_name)));
      }
      choice.candidates.push_back({{"_name", option_name}});
      choice.canonical.push_back(i);
    }
    const std::size_t parent = space_.params.size();
    space_.params.push_back({name, path, std::move(choice), condition});
    for (std::size_t i = 0; i < options.size(); ++i) {
      TRY(object(options[i], fmt::format("{}[{}].", path, i), Condition{parent, i}));
    }
    return {};
  }

  Space space_;
};

}  // namespace

Result<Space> parse_space(const json& search_space) {
  if (!search_space.is_object()) {
    return fail(
        fmt::format("search_space: must be an object, not {}", json_type_name(search_space)));
  }
  Parser parser;
  TRY(parser.object(search_space, "", std::nullopt));
  return parser.take();
}

}  // namespace attune
