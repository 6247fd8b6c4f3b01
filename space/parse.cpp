#include "space/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/arguments.h"
#include "space/parse_domain.h"
#include "space/parse_knowledge.h"

namespace attune {
namespace {

constexpr std::size_t kMaxParams = 10'000;

// A nested choice: every candidate is an object with a name. Otherwise objects are plain values.
bool is_nested(const json& value) {
  return value.is_array() && !value.empty() && std::ranges::all_of(value, [](const json& option) {
           return option.is_object() && option.contains("_name");
         });
}

// A hint, if a key of `spec` looks like a misspelt `key`.
std::string misspelt(const json& spec, const std::string& key) {
  for (const auto& [name, value] : spec.items()) {
    if (name != "_type" && name != "_value" && nearest_name(name, {key}) == key)
      return fmt::format("; \"{}\" is written {}", name, key);
  }
  return "";
}

// Recursion is as deep as the JSON, which parse_json bounds.
class Parser {
 public:
  explicit Parser(std::vector<SpaceFlaw>& flaws) : flaws_(flaws) {}

  // Where an object stands, for people and in the document.
  struct Where {
    std::string path, place;
  };

  // The parameters of one object, of the space or of an option (whose `_name` is none).
  void object(const json& members, const Where& prefix, const std::optional<Condition>& condition) {
    for (const auto& [name, spec] : members.items()) {
      if (condition && name == "_name") continue;
      const Where where{prefix.path + name, prefix.place + name};
      if (space_.params.size() == kMaxParams) {
        if (!std::exchange(full_, true))
          flaw(where, "", fmt::format("at most {} parameters are possible", kMaxParams));
        return;
      }
      param(spec, name, where, condition);
    }
  }

  Space take() { return std::move(space_); }

 private:
  void flaw(const Where& where, const std::string& at, std::string message) {
    flaws_.push_back({where.place + at, "search_space." + where.path + at, std::move(message)});
  }

  void param(const json& spec, const std::string& name, const Where& where,
             const std::optional<Condition>& condition) {
    const auto wrong = [&](const std::string& at, std::string message) {
      flaw(where, at, std::move(message));
      space_.params.push_back({name, where.path, Uniform(), condition});
    };
    if (!spec.is_object())
      return wrong(
          "", fmt::format("must be an object with _type and _value, not {}", json_type_name(spec)));
    for (const char* key : {"_type", "_value"}) {
      if (!spec.contains(key))
        return wrong(fmt::format(".{}", key),
                     fmt::format("missing; write {{\"_type\": ..., \"_value\": ...}}{}",
                                 misspelt(spec, key)));
    }
    const json& type = spec["_type"];
    const json& value = spec["_value"];
    if (!type.is_string())
      return wrong("._type",
                   fmt::format("must be the name of a type, not {}", json_type_name(type)));
    if (type == "choice" && is_nested(value)) return nested(spec, name, where, condition);
    auto domain = parse_domain(type.get<std::string>(), value);
    if (!domain && domain.error().at == "._type" && is_nested(value)) {
      flaw(where, "._type", std::move(domain.error().message));
      return nested(spec, name, where, condition);  // finds the names and mistakes inside
    }
    if (!domain) return wrong(domain.error().at, std::move(domain.error().message));
    add(spec, {name, where.path, *std::move(domain), condition}, where);
  }

  void add(const json& spec, Param param, const Where& where) {
    if (auto known = parse_knowledge(param.domain, spec)) {
      param.default_value = known->default_value;
      param.prior = known->prior;
    } else {
      flaw(where, known.error().at, std::move(known.error().message));
    }
    space_.params.push_back(std::move(param));
  }

  void nested(const json& spec, const std::string& name, const Where& where,
              const std::optional<Condition>& condition) {
    const json& options = spec["_value"];
    if (auto wrong = flaw_of_candidates("._value", options))
      flaw(where, wrong->at, std::move(wrong->message));
    Choice choice{.candidates = {}, .canonical = {}, .nested = true};
    std::set<std::string> names;
    for (std::size_t i = 0; i < options.size(); ++i) {
      const json& option_name = options[i]["_name"];
      if (!names.insert(canonical_text(option_name)).second)
        flaw({fmt::format("{}[{}]", where.path, i), fmt::format("{}._value[{}]", where.place, i)},
             "._name", fmt::format("{} is the name of an earlier option", dump_json(option_name)));
      choice.candidates.push_back({{"_name", option_name}});
      choice.canonical.push_back(i);
    }
    const std::size_t parent = space_.params.size();
    add(spec, {name, where.path, std::move(choice), condition}, where);
    for (std::size_t i = 0; i < options.size(); ++i) {
      object(options[i],
             {fmt::format("{}[{}].", where.path, i), fmt::format("{}._value[{}].", where.place, i)},
             Condition{parent, i});
    }
  }

  std::vector<SpaceFlaw>& flaws_;
  bool full_ = false;
  Space space_;
};

}  // namespace

Space parse_space(const json& search_space, std::vector<SpaceFlaw>& flaws) {
  if (!search_space.is_object()) {
    flaws.push_back({"", "search_space",
                     fmt::format("must be an object, not {}", json_type_name(search_space))});
    return {};
  }
  Parser parser(flaws);
  parser.object(search_space, {}, std::nullopt);
  return parser.take();
}

Result<Space> parse_space(const json& search_space) {
  std::vector<SpaceFlaw> flaws;
  Space space = parse_space(search_space, flaws);
  if (!flaws.empty()) return fail(fmt::format("{}: {}", flaws.front().path, flaws.front().message));
  return space;
}

}  // namespace attune
