#include "plugins/description.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>

#include <algorithm>

#include "base/members.h"

namespace attune {
namespace {

constexpr std::size_t kMostAlgorithms = 1000, kMostArguments = 1000;
constexpr int kDeepest = 8;  // members of members

struct TypeName {
  std::string_view name;
  Argument::Type type;
};
constexpr TypeName kTypes[] = {
    {"boolean", Argument::Type::boolean}, {"integer", Argument::Type::integer},
    {"number", Argument::Type::number},   {"text", Argument::Type::text},
    {"choice", Argument::Type::choice},   {"object", Argument::Type::object},
};

bool same_name(const std::string& a, const std::string& b) {
  return ::strcasecmp(a.c_str(), b.c_str()) == 0;
}

Result<void> check_fallback(const Argument& argument, const std::string& place) {
  if (argument.fallback.is_null()) return {};
  std::vector<ArgumentFlaw> flaws;
  resolve_arguments({argument}, {{argument.name, argument.fallback}}, flaws);
  if (!flaws.empty()) return fail_at(place, flaws.front().message);
  return {};
}

Result<std::vector<Argument>> read_arguments(const std::vector<json>& list,
                                             const std::string& place, int depth);

Result<Argument> read_argument(const json& said, const std::string& place, int depth) {
  const Members members = TRY(Members::of(
      said, place, {"name", "type", "default", "help", "low", "high", "choices", "members"}));
  Argument argument;
  argument.name = TRY(members.name("name"));
  if (depth == 0 && is_common_argument(argument.name)) {
    return fail_at(members.at("name"), argument.name + " is an argument of every algorithm");
  }
  const std::string type = TRY(members.text("type"));
  const auto* const known = std::ranges::find(kTypes, type, &TypeName::name);
  if (known == std::end(kTypes)) {
    std::vector<std::string> names;
    for (const TypeName& each : kTypes) names.emplace_back(each.name);
    const std::string near = nearest_name(type, names);
    return fail_at(
        members.at("type"),
        near.empty()
            ? fmt::format("unknown type {}; known: {}", dump_json(type), fmt::join(names, ", "))
            : fmt::format("unknown type {}; did you mean \"{}\"?", dump_json(type), near));
  }
  argument.type = known->type;
  argument.help = TRY(members.line("help"));
  argument.low = TRY(members.number("low"));
  argument.high = TRY(members.number("high"));
  for (const json& choice : TRY(members.array("choices", kMostArguments))) {
    if (!choice.is_string()) return fail_at(members.at("choices"), "each must be a text");
    argument.choices.push_back(choice.get<std::string>());
  }
  if ((argument.type == Argument::Type::choice) == argument.choices.empty()) {
    return fail_at(members.at("choices"), "belongs to the type choice, and to no other");
  }
  if (depth == kDeepest) return fail_at(place, "too deep");
  argument.members = TRY(read_arguments(TRY(members.array("members", kMostArguments)),
                                        members.at("members"), depth + 1));
  if ((argument.type == Argument::Type::object) == argument.members.empty()) {
    return fail_at(members.at("members"), "belongs to the type object, and to no other");
  }
  argument.fallback = members.get("default");
  if (argument.type == Argument::Type::object && argument.fallback.is_null()) {
    argument.fallback = json::object();
  }
  TRY(check_fallback(argument, members.at("default")));
  return argument;
}

Result<std::vector<Argument>> read_arguments(const std::vector<json>& list,
                                             const std::string& place, int depth) {
  std::vector<Argument> arguments;
  for (const json& said : list) {
    const std::string at = fmt::format("{}[{}]", place, arguments.size());
    Argument argument = TRY(read_argument(said, at, depth));
    if (std::ranges::find(arguments, argument.name, &Argument::name) != arguments.end()) {
      return fail_at(at + ".name", "an earlier argument has the name " + argument.name);
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

Result<PluginDescription> read_description(const json& said, const std::string& place) {
  const Members members =
      TRY(Members::of(said, place,
                      {"kind", "name", "summary", "arguments", "optimize_mode", "wants_reports",
                       "saves", "any_arguments", "any_parameters"}));
  PluginDescription description;
  const std::string kind = TRY(members.text("kind"));
  if (kind != "tuner" && kind != "assessor") {
    return fail_at(members.at("kind"), "must be \"tuner\" or \"assessor\", not " + dump_json(kind));
  }
  if (kind == "assessor") description.kind = PluginDescription::Kind::assessor;
  description.name = TRY(members.name("name"));
  description.summary = TRY(members.line("summary"));
  description.arguments = TRY(
      read_arguments(TRY(members.array("arguments", kMostArguments)), members.at("arguments"), 0));
  if (!members.get("optimize_mode").is_null()) {
    const std::string mode = TRY(members.text("optimize_mode"));
    if (mode != "maximize" && mode != "minimize") {
      return fail_at(members.at("optimize_mode"), "must be \"maximize\" or \"minimize\"");
    }
    description.maximizes = mode == "maximize";
  }
  description.wants_reports = TRY(members.boolean("wants_reports"));
  description.saves = TRY(members.boolean("saves"));
  description.any_arguments = TRY(members.boolean("any_arguments"));
  if (description.any_arguments && !description.arguments.empty()) {
    return fail_at(members.at("arguments"), "must be missing with any_arguments");
  }
  description.any_parameters = TRY(members.boolean("any_parameters"));
  return description;
}

}  // namespace

bool is_common_argument(std::string_view name) { return name == "optimize_mode" || name == "seed"; }

Result<std::vector<PluginDescription>> read_descriptions(const json& algorithms) {
  const std::string place = "algorithms";
  if (!algorithms.is_array() || algorithms.empty() || algorithms.size() > kMostAlgorithms) {
    return fail_at(place, fmt::format("must be an array of 1 to {} objects", kMostAlgorithms));
  }
  std::vector<PluginDescription> descriptions;
  for (const json& said : algorithms) {
    const std::string at = fmt::format("{}[{}]", place, descriptions.size());
    PluginDescription description = TRY(read_description(said, at));
    for (const PluginDescription& earlier : descriptions) {
      if (earlier.kind == description.kind && same_name(earlier.name, description.name)) {
        return fail_at(at + ".name", "an earlier algorithm has the name " + description.name);
      }
    }
    descriptions.push_back(std::move(description));
  }
  return descriptions;
}

}  // namespace attune
