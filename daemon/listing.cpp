#include "daemon/listing.h"

#include <fmt/format.h>

#include "base/objective_json.h"

namespace attune {
namespace {

std::string_view type_name(Argument::Type type) {
  switch (type) {
    case Argument::Type::boolean:
      return "boolean";
    case Argument::Type::integer:
      return "integer";
    case Argument::Type::number:
      return "number";
    case Argument::Type::text:
      return "text";
    case Argument::Type::choice:
      return "choice";
    case Argument::Type::object:
      return "object";
  }
  return "";
}

json to_json(const Argument& argument) {
  json value = {{"name", argument.name},
                {"type", type_name(argument.type)},
                {"default", argument.fallback},
                {"help", argument.help}};
  if (argument.low) value["low"] = *argument.low;
  if (argument.high) value["high"] = *argument.high;
  if (!argument.choices.empty()) value["choices"] = argument.choices;
  for (const Argument& member : argument.members) value["members"].push_back(to_json(member));
  return value;
}

template <class Entry>
json to_json(const Catalog<Entry>& catalog) {
  json list = json::array();
  for (const Entry& entry : catalog.entries()) {
    json arguments = json::array();
    for (const Argument& argument : all_arguments(entry)) arguments.push_back(to_json(argument));
    list.push_back({{"name", entry.name},
                    {"aliases", entry.aliases},
                    {"summary", entry.summary},
                    {"optimize_mode", entry.maximizes ? "maximize" : "minimize"},
                    {"arguments", std::move(arguments)}});
  }
  return list;
}

void add_arguments(std::string& text, const json& arguments, int indent) {
  for (const json& argument : arguments) {
    const std::string name = argument["name"].get<std::string>();
    std::string accepted = argument["type"].get<std::string>();
    if (argument.contains("choices")) {
      accepted.clear();
      for (const json& choice : argument["choices"]) {
        accepted += (accepted.empty() ? "" : "|") + choice.get<std::string>();
      }
    }
    const bool has_members = argument.contains("members");
    text += fmt::format("{:{}}{:<{}} {}{} ({})\n", "", indent, name, 30 - indent,
                        argument["help"].get<std::string>(),
                        has_members ? "" : ", default " + dump_json(argument["default"]), accepted);
    if (has_members) add_arguments(text, argument["members"], indent + 2);
  }
}

void add_kind(std::string& text, std::string_view title, const json& entries) {
  text += fmt::format("{}\n", title);
  for (const json& entry : entries) {
    std::string name = entry["name"].get<std::string>();
    for (const json& alias : entry["aliases"]) name += ", " + alias.get<std::string>();
    text += fmt::format("\n  {}\n    {}\n", name, entry["summary"].get<std::string>());
    add_arguments(text, entry["arguments"], 4);
  }
}

}  // namespace

json list_as_json(const TunerRegistry& tuners, const AssessorRegistry& assessors) {
  return {{"format", 1}, {"tuners", to_json(tuners)}, {"assessors", to_json(assessors)}};
}

std::string list_as_text(const TunerRegistry& tuners, const AssessorRegistry& assessors) {
  std::string text;
  const json list = list_as_json(tuners, assessors);
  add_kind(text, "Tuners (propose configurations)", list["tuners"]);
  text += "\n";
  add_kind(text, "Assessors (stop bad trials early)", list["assessors"]);
  return text;
}

json print_config(const Configuration& c) {
  constexpr std::array<std::string_view, 6> kLevels = {"trace",   "debug", "info",
                                                       "warning", "error", "off"};
  constexpr std::array<std::string_view, 3> kDurabilities = {"never", "write", "always"};
  json assessor;
  if (c.assessor) {
    assessor = {{"name", c.assessor->name},
                {"arguments", c.assessor->arguments},
                {"stopped_trials", name_of(c.stopped_trials)}};
  }
  json capabilities = json::array();
  if (c.capabilities.sync) capabilities.push_back("sync");
  if (c.capabilities.pause) capabilities.push_back("pause");
  if (c.capabilities.checkpoint) capabilities.push_back("checkpoint");
  if (c.capabilities.reason) capabilities.push_back("reason");
  if (c.capabilities.error) capabilities.push_back("error");
  const auto& fidelity = c.context.fidelity;
  json config = {
      {"tuner", {{"name", c.tuner.name}, {"arguments", c.tuner.arguments}}},
      {"assessor", std::move(assessor)},
      {"objectives", to_json(c.context.objectives)},
      {"constraints", c.constraints},
      {"fidelity", fidelity ? json{{"metric", fidelity->metric}, {"max", fidelity->max}} : json()},
      {"plugins", c.plugins},
      {"seed", c.fallback_seed},
      {"capabilities", std::move(capabilities)},
      {"when_exhausted", c.when_exhausted ? json(name_of(*c.when_exhausted)) : json()},
      {"framing", c.length_digits},
      {"channel", c.websocket_url.empty() ? json() : json(c.websocket_url)},
      {"listen", c.listen.empty() ? json() : json(c.listen)},
      {"in_fd", c.in_fd},
      {"out_fd", c.out_fd},
      {"log_file", c.log_file.empty() ? json() : json(c.log_file)},
      {"log_level", kLevels.at(static_cast<std::size_t>(c.log_level))},
      {"resume", c.resume},
      {"checkpoint_directory",
       c.checkpoint_directory.empty() ? json() : json(c.checkpoint_directory)},
      {"durability", kDurabilities.at(static_cast<std::size_t>(c.durability))},
      {"snapshot_bytes", c.snapshot_bytes},
      {"include_intermediate", c.include_intermediate},
      {"drain", c.drain}};
  config.update(to_json(c.limits));
  return config;
}

}  // namespace attune
