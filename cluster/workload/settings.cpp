#include "cluster/workload/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/names.h"
#include "base/saved_numbers.h"
#include "cluster/workload/buffer/buffer_policy.h"

namespace attune {
namespace {

using enum Argument::Type;

// The parameters that a commander gives to tasks of some kind. Users cannot use these names.
constexpr std::array<std::string_view, 8> kOwnParameters = {
    "task", "learner", "buffer", "policy", "seed", "coordinator", "evaluate", "opponent"};

std::vector<Argument> common_arguments() {
  return {{.name = "run", .type = text, .fallback = "run", .help = "the ids of tasks begin so"},
          {.name = "policies", .type = text, .help = "a directory that all machines share"},
          {.name = "coordinator", .type = text, .help = "the file of its address"},
          {.name = "learner", .type = object, .help = "a role"},
          {.name = "collector", .type = object, .help = "a role"},
          {.name = "collectors", .type = object, .help = "that are live at a time"},
          {.name = "buffer", .type = object, .help = "the settings of each buffer"},
          {.name = "failures",
           .type = integer,
           .fallback = 10,
           .help = "of one kind in a row with which the run has failed",
           .low = 1,
           .high = 1'000'000}};
}

// The error has the place of the key itself, so that the message can name its line in the file.
Result<void> check_keys(const std::string& place, const std::vector<std::string>& known,
                        const json& given) {
  for (const auto& [key, value] : given.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string near = nearest_name(key, known);
    return fail_at(place + "." + key,
                   fmt::format("unknown key{} Known: {}",
                               near.empty() ? "." : fmt::format("; did you mean \"{}\"?", near),
                               fmt::join(known, ", ")));
  }
  return {};
}

Result<void> check_name_at(const std::string& place, std::string_view what,
                           const std::string& name) {
  if (const auto good = check_name(what, name); !good) return fail_at(place, good.error().message);
  return {};
}

double number_or(const json& value, double fallback) {
  return value.is_null() ? fallback : value.get<double>();
}

// A resource or a time limit; null if absent.
Argument amount(const std::string& name) { return {.name = name, .low = 0, .high = 1e18}; }

// Stricter than parse_task_spec(). That ignores unknown keys, because a newer version may send
// them; here an unknown key is a spelling mistake of the user.
Result<Resources> parse_needs(const std::string& place, const json& given) {
  const json needs = TRY(resolve_open(
      place, {amount("cpu"), amount("gpu"), amount("memory"), {.name = "custom", .type = object}},
      given));
  std::vector<Argument> kinds;
  for (const auto& [name, value] : needs["custom"].items()) {
    if (needs["custom"].is_object()) TRY(check_name_at(place + ".custom", "the resource", name));
    kinds.push_back(amount(name));
  }
  const json custom = TRY(resolve_arguments(place + ".custom", kinds, needs["custom"]));
  Resources resources;
  resources.cpu = number_or(needs["cpu"], 0);
  resources.gpu = number_or(needs["gpu"], 0);
  resources.memory = number_or(needs["memory"], 0);
  for (const auto& [name, value] : custom.items()) resources.custom[name] = number_or(value, 0);
  return resources;
}

Result<TaskLimits> parse_limits(const std::string& place, const json& given) {
  const json limits = TRY(resolve_open(
      place,
      {amount("queue"),
       amount("run"),
       amount("silent"),
       {.name = "attempts", .type = integer, .fallback = 1, .low = 1, .high = 1'000'000}},
      given));
  TaskLimits result;
  result.queue = number_or(limits["queue"], result.queue);
  result.run = number_or(limits["run"], result.run);
  result.silent = number_or(limits["silent"], result.silent);
  result.attempts = limits["attempts"].get<int>();
  return result;
}

Result<std::vector<std::string>> parse_labels(const std::string& place, const json& given) {
  if (given.is_null()) return std::vector<std::string>();
  const bool texts = given.is_array() &&
                     std::ranges::all_of(given, [](const json& each) { return each.is_string(); });
  if (!texts)
    return fail_at(place, fmt::format("a list of texts expected, not {}", dump_json(given)));
  auto labels = given.get<std::vector<std::string>>();
  for (const std::string& label : labels) TRY(check_name_at(place, "the label", label));
  return labels;
}

// A number, or {min, max}. "max" is required: collectors that need nothing fit everywhere, so their
// number would have no end.
Result<Collectors> parse_collectors(const std::string& commander, const json& given) {
  const auto count = [](const std::string& name, json fallback) {
    return Argument{.name = name,
                    .type = integer,
                    .fallback = std::move(fallback),
                    .help = "",
                    .low = 1,
                    .high = 10'000};
  };
  if (given.is_null()) return Collectors{};
  if (!given.is_object()) {
    const json resolved =
        TRY(resolve_arguments(commander, {count("collectors", 1)}, {{"collectors", given}}));
    const int number = resolved["collectors"].get<int>();
    return Collectors{number, number};
  }
  const std::string place = commander + ".collectors";
  const json resolved = TRY(resolve_open(place, {count("min", 1), count("max", nullptr)}, given));
  if (resolved["max"].is_null())
    return fail_at(place + ".max", "missing: how many there may be at the most");
  const Collectors collectors{resolved["min"].get<int>(), resolved["max"].get<int>()};
  if (collectors.least > collectors.most)
    return fail_at(place + ".min", fmt::format("at most max, which is {}, is wanted, not {}",
                                               collectors.most, collectors.least));
  return collectors;
}

}  // namespace

Result<json> resolve_open(const std::string& place, std::vector<Argument> declared,
                          const json& given) {
  if (!given.is_object() && !given.is_null())
    return fail_at(place, fmt::format("an object expected, not {}", dump_json(given)));
  std::vector<std::string> names;
  for (const Argument& argument : declared) names.push_back(argument.name);
  TRY(check_keys(place, names, given));
  json closed = given;
  std::vector<std::pair<std::string, json>> held;
  for (Argument& argument : declared) {
    if (argument.type != object) continue;
    // Shown to resolve_arguments() as a text that is null, which it leaves alone.
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
    return fail_at(place,
                   fmt::format("an object with \"program\" expected, not {}", dump_json(given)));
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
    return fail_at(place + ".program", "an object expected, what a worker is to run");
  for (const char* key : {"parameters", "job"}) {
    if (role.program.contains(key))
      return fail_at(place + ".program", fmt::format("\"{}\" is written by the commander", key));
  }
  role.parameters = resolved["parameters"].is_null() ? json::object() : resolved["parameters"];
  if (!role.parameters.is_object()) return fail_at(place + ".parameters", "an object expected");
  for (const auto& [key, value] : role.parameters.items()) {
    if (std::ranges::find(kOwnParameters, key) != kOwnParameters.end())
      return fail_at(place + ".parameters." + key,
                     fmt::format("written by the commander, as are {}; take another name",
                                 fmt::join(kOwnParameters, ", ")));
  }
  role.common.needs = TRY(parse_needs(place + ".needs", resolved["needs"]));
  role.common.limits = TRY(parse_limits(place + ".limits", resolved["limits"]));
  role.common.labels = TRY(parse_labels(place + ".labels", resolved["labels"]));
  role.common.priority = resolved["priority"].get<std::int64_t>();
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
  // The form in which a manager gives parameters to a trial.
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
    return fail_at(name + ".run",
                   fmt::format("1 to {} letters, digits, '-', '_' and '.' are wanted, no '.' in "
                               "front, not \"{}\"",
                               kMostOfId, settings.run));
  if (!resolved["policies"].is_string() || resolved["policies"].get<std::string>().empty())
    return fail_at(name + ".policies", "a directory expected that all machines share");
  settings.policies = resolved["policies"].get<std::string>();
  const json buffer = resolved["buffer"].is_null() ? json::object() : resolved["buffer"];
  if (!buffer.is_object())
    return fail_at(name + ".buffer", fmt::format("an object expected, not {}", dump_json(buffer)));
  if (auto policy = parse_buffer_policy(buffer); !policy)
    return fail_at(name + ".buffer." + policy.error().place, policy.error().what());
  settings.buffer = dump_json(buffer);
  settings.learner = TRY(parse_role(name + ".learner", resolved["learner"]));
  settings.collector = TRY(parse_role(name + ".collector", resolved["collector"]));
  // At least the collectors' priority. Otherwise new collectors would take the place that one of
  // them gave up for the learner.
  std::int64_t& learns = settings.learner.common.priority;
  learns = std::max(learns, settings.collector.common.priority);
  settings.collectors = TRY(parse_collectors(name, resolved["collectors"]));
  settings.failures = resolved["failures"].get<int>();
  if (resolved["coordinator"].is_string())
    settings.coordinator = resolved["coordinator"].get<std::string>();
  return settings;
}

}  // namespace attune
