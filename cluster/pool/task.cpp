#include "cluster/pool/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/names.h"
#include "base/saved_numbers.h"
#include "cluster/pool/fields.h"

namespace attune {
namespace {

using enum TaskState;

constexpr std::array kNames = {std::pair{queued, "queued"},       std::pair{leased, "leased"},
                               std::pair{running, "running"},     std::pair{closing, "closing"},
                               std::pair{succeeded, "succeeded"}, std::pair{failed, "failed"},
                               std::pair{cancelled, "cancelled"}, std::pair{lost, "lost"}};

Result<double> amount_at(const json& object, const std::string& key, double fallback) {
  if (!object.contains(key)) return fallback;
  const double amount = TRY(number_at(object, key));
  // Infinity is refused: JSON has no text for it, and the journal must be readable.
  constexpr double kMost = 1e18;
  if (!(amount >= 0 && amount <= kMost))
    return fail(fmt::format("{}: 0 to {} is wanted, not {}", key, kMost, amount));
  return amount;
}

Result<TaskLimits> parse_limits(const json& object) {
  TaskLimits limits;
  limits.queue = TRY(amount_at(object, "queue", limits.queue));
  limits.run = TRY(amount_at(object, "run", limits.run));
  limits.silent = TRY(amount_at(object, "silent", limits.silent));
  const double attempts = TRY(amount_at(object, "attempts", limits.attempts));
  if (attempts < 1 || attempts > 1e6 || attempts != std::floor(attempts))
    return fail("attempts: a whole number from 1 to 1000000 is wanted");
  limits.attempts = static_cast<int>(attempts);
  return limits;
}

json to_json(const TaskLimits& limits) {
  json object = {{"attempts", limits.attempts}};
  if (std::isfinite(limits.queue)) object["queue"] = limits.queue;
  if (std::isfinite(limits.run)) object["run"] = limits.run;
  if (std::isfinite(limits.silent)) object["silent"] = limits.silent;
  return object;
}

Result<OwnedBuffer> parse_owned_buffer(const json& object) {
  OwnedBuffer buffer;
  buffer.id = TRY(text_at(object, "id"));
  TRY(check_name("owns", buffer.id));
  buffer.settings = TRY(text_at(object, "settings"));
  return buffer;
}

}  // namespace

json to_json(const Resources& resources) {
  json object = json::object();
  if (resources.cpu != 0) object["cpu"] = resources.cpu;
  if (resources.gpu != 0) object["gpu"] = resources.gpu;
  if (resources.memory != 0) object["memory"] = resources.memory;
  if (!resources.custom.empty()) object["custom"] = resources.custom;
  return object;
}

Result<Resources> parse_resources(const json& object) {
  Resources resources;
  resources.cpu = TRY(amount_at(object, "cpu", 0));
  resources.gpu = TRY(amount_at(object, "gpu", 0));
  resources.memory = TRY(amount_at(object, "memory", 0));
  if (object.contains("custom")) {
    const json custom = TRY(object_at(object, "custom"));
    for (const auto& [name, amount] : custom.items()) {
      TRY(check_name("custom", name));
      resources.custom[name] = TRY(amount_at(custom, name, 0));
    }
  }
  return resources;
}

std::string_view to_text(TaskState state) {
  return std::ranges::find(kNames, state, &decltype(kNames)::value_type::first)->second;
}

Result<TaskState> parse_task_state(std::string_view text) {
  for (const auto& [state, name] : kNames) {
    if (text == name) return state;
  }
  return fail(fmt::format("\"{}\" is no state of a task", text));
}

bool is_end(TaskState state) { return state >= succeeded; }

bool may_become(TaskState from, TaskState to) {
  switch (from) {
    case queued:
      return to == leased || to == failed || to == cancelled || to == lost;
    case leased:
      return to == running || to == closing || to == queued || is_end(to);
    case running:
      return to == closing || to == queued || is_end(to);
    case closing:
      return to == queued || is_end(to);
    default:
      return false;
  }
}

json to_json(const TaskSpec& spec) {
  json object = {{"id", spec.id}, {"kind", spec.kind}};
  if (!spec.client.empty()) object["client"] = spec.client;
  object["needs"] = to_json(spec.needs);
  if (!spec.labels.empty()) object["labels"] = spec.labels;
  if (!spec.worker.empty()) object["worker"] = spec.worker;
  for (const OwnedBuffer& each : spec.owns)
    object["owns"].push_back({{"id", each.id}, {"settings", each.settings}});
  if (!spec.uses.empty()) object["uses"] = spec.uses;
  if (spec.priority != 0) object["priority"] = spec.priority;
  object["limits"] = to_json(spec.limits);
  object["program"] = spec.program;
  return object;
}

Result<TaskSpec> parse_task_spec(const json& object) {
  TaskSpec spec;
  spec.id = TRY(name_at(object, "id"));
  spec.kind = TRY(name_at(object, "kind"));
  if (object.contains("client")) spec.client = TRY(name_at(object, "client"));
  if (object.contains("needs")) spec.needs = TRY(parse_resources(TRY(object_at(object, "needs"))));
  if (object.contains("labels")) spec.labels = TRY(names_at(object, "labels"));
  if (object.contains("worker")) spec.worker = TRY(name_at(object, "worker"));
  if (object.contains("owns")) {
    for (const json& each : TRY(array_at(object, "owns")))
      spec.owns.push_back(TRY(parse_owned_buffer(each)));
  }
  if (object.contains("uses")) spec.uses = TRY(names_at(object, "uses"));
  if (object.contains("priority")) spec.priority = TRY(integer_at(object, "priority"));
  if (object.contains("limits")) spec.limits = TRY(parse_limits(TRY(object_at(object, "limits"))));
  spec.program = TRY(text_at(object, "program"));
  return spec;
}

}  // namespace attune
