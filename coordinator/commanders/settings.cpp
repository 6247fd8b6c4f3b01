#include "coordinator/commanders/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/saved_numbers.h"
#include "coordinator/buffer/buffer_policy.h"

namespace attune {
namespace {

using enum Argument::Type;

std::vector<Argument> common_arguments() {
  return {{.name = "run", .type = text, .fallback = "run", .help = "the ids of tasks begin so"},
          {.name = "policies", .type = text, .help = "a directory that all machines share"},
          {.name = "coordinator", .type = text, .help = "the file of its address"},
          {.name = "learner", .type = object, .help = "a role"},
          {.name = "collector", .type = object, .help = "a role"},
          {.name = "collectors",
           .type = integer,
           .fallback = 1,
           .help = "that are live at a time",
           .low = 1,
           .high = 10'000},
          {.name = "buffer", .type = object, .help = "the settings of each buffer"},
          {.name = "failures",
           .type = integer,
           .fallback = 10,
           .help = "of one kind in a row with which the run has failed",
           .low = 1,
           .high = 1'000'000}};
}

}  // namespace

Result<json> resolve_open(const std::string& place, std::vector<Argument> declared,
                          const json& given) {
  if (!given.is_object() && !given.is_null())
    return fail(fmt::format("{}: an object expected, not {}", place, dump_json(given)));
  json closed = given;
  std::vector<std::pair<std::string, json>> held;
  for (Argument& argument : declared) {
    if (argument.type != object) continue;
    // It passes as a null that is allowed to stay null.
    argument.type = text;
    if (!given.contains(argument.name)) continue;
    held.emplace_back(argument.name, given[argument.name]);
    closed[argument.name] = nullptr;
  }
  json resolved = TRY(resolve_arguments(place, declared, closed));
  for (auto& [name, value] : held) resolved[name] = std::move(value);
  return resolved;
}

Result<TaskRole> parse_role(const std::string& place, const json& given) {
  if (!given.is_object())
    return fail(
        fmt::format("{}: an object with \"program\" expected, not {}", place, dump_json(given)));
  const json resolved = TRY(resolve_open(place,
                                         {{.name = "program", .type = object},
                                          {.name = "parameters", .type = object},
                                          {.name = "needs", .type = object},
                                          {.name = "labels", .type = object},
                                          {.name = "limits", .type = object},
                                          {.name = "priority", .type = integer, .fallback = 0}},
                                         given));
  TaskRole role;
  role.program = resolved["program"];
  if (!role.program.is_object())
    return fail(fmt::format("{}.program: an object expected, what a worker is to run", place));
  for (const char* key : {"parameters", "job"}) {
    if (role.program.contains(key))
      return fail(fmt::format("{}.program: \"{}\" is written by the commander", place, key));
  }
  role.parameters = resolved["parameters"].is_null() ? json::object() : resolved["parameters"];
  if (!role.parameters.is_object())
    return fail(fmt::format("{}.parameters: an object expected", place));
  json spec = {{"id", "any"}, {"kind", "any"}, {"program", ""}};
  for (const char* key : {"needs", "labels", "limits", "priority"}) {
    if (!resolved[key].is_null()) spec[key] = resolved[key];
  }
  auto common = parse_task_spec(spec);
  if (!common) return fail(fmt::format("{}: {}", place, common.error().message));
  role.common = *std::move(common);
  return role;
}

TaskSpec task_of(const TaskRole& role, const std::string& id, std::string_view kind,
                 const json& parameters) {
  TaskSpec spec = role.common;
  spec.id = id;
  spec.kind = kind;
  json program = role.program;
  json all = role.parameters;
  all.update(parameters);
  // As a manager gives parameters to a trial.
  program["parameters"] = dump_json({{"parameter_id", 0}, {"parameters", std::move(all)}});
  program["job"] = id;
  spec.program = dump_json(program);
  return spec;
}

json parameters_of(const TaskSpec& spec) {
  const auto program = parse_json(spec.program);
  if (!program) return nullptr;
  const auto written = text_at(*program, "parameters");
  if (!written) return nullptr;
  const auto parameters = parse_json(*written);
  return parameters ? object_at(*parameters, "parameters").value_or(json()) : json();
}

Result<json> resolve_settings(const std::string& name, const std::vector<Argument>& more,
                              const json& given) {
  std::vector<Argument> declared = common_arguments();
  declared.insert(declared.end(), more.begin(), more.end());
  return resolve_open(name, std::move(declared), given);
}

Result<CommonSettings> common_settings(const std::string& name, const json& resolved) {
  constexpr std::size_t kMostOfId = 100;  // the rest is for the kind and the number
  CommonSettings settings;
  settings.name = name;
  settings.run = resolved["run"].get<std::string>();
  const json probe = {{"id", settings.run}, {"kind", "any"}, {"program", ""}};
  if (settings.run.size() > kMostOfId || !parse_task_spec(probe))
    return fail(
        fmt::format("{}.run: 1 to {} letters, digits, '-', '_' and '.' are wanted, no '.' "
                    "in front, not \"{}\"",
                    name, kMostOfId, settings.run));
  if (!resolved["policies"].is_string() || resolved["policies"].get<std::string>().empty())
    return fail(fmt::format("{}.policies: a directory expected that all machines share", name));
  settings.policies = resolved["policies"].get<std::string>();
  const json& buffer = resolved["buffer"];
  if (auto policy = parse_buffer_policy(buffer.is_null() ? json::object() : buffer); !policy)
    return fail(fmt::format("{}.buffer: {}", name, policy.error().message));
  settings.buffer = dump_json(buffer.is_null() ? json::object() : buffer);
  settings.learner = TRY(parse_role(name + ".learner", resolved["learner"]));
  settings.collector = TRY(parse_role(name + ".collector", resolved["collector"]));
  settings.collectors = resolved["collectors"].get<int>();
  settings.failures = resolved["failures"].get<int>();
  if (resolved["coordinator"].is_string())
    settings.coordinator = resolved["coordinator"].get<std::string>();
  return settings;
}

}  // namespace attune
