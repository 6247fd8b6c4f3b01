#include "manager/cli/commands/pool_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/saved_numbers.h"
#include "manager/cli/progress.h"

namespace attune {
namespace {

std::string amounts_text(const json& used, const json& capacity) {
  std::string text;
  for (const char* kind : {"cpu", "gpu"}) {
    if (!capacity.contains(kind)) continue;
    text +=
        fmt::format("{}{} of {} {}", text.empty() ? "" : ", ", number_text(used.value(kind, 0.0)),
                    number_text(capacity.value(kind, 0.0)), kind);
  }
  return text;
}

std::string workers_text(const json& workers, const Console& console) {
  TextTable table({"WORKER", "HOST", "STATE", "TASKS", "IN USE", "LABELS"});
  for (const json& each : workers) {
    std::string labels;
    for (const json& label : each["labels"])
      labels += (labels.empty() ? "" : ",") + label.get<std::string>();
    table.add({each["worker"], each["host"], each["state"], std::to_string(each["tasks"].size()),
               amounts_text(each["used"], each["capacity"]), labels});
  }
  if (table.empty()) return "no workers: attune worker --join ADDRESS brings one\n";
  return table.text(console.width);
}

Result<std::string> tasks_text(const json& tasks, const Console& console) {
  TextTable table({"TASK", "KIND", "STATE", "FOR", "ATTEMPT", "WORKER", "REASON"});
  for (const json& each : tasks) {
    table.add({each["task"], each["kind"], each["state"],
               duration_text(TRY(number_at(each, "seconds"))),
               std::to_string(each["attempt"].get<int>()), each.value("worker", ""),
               each.value("waits", each.value("cause", ""))});
  }
  return table.empty() ? "" : "\n" + table.text(console.width);
}

std::string buffers_text(const json& buffers, const Console& console) {
  TextTable table({"BUFFER", "ITEMS", "CAPACITY", "PUSHED", "SAMPLED", "WAITING"});
  for (const auto& [id, each] : buffers.items()) {
    const auto number = [&buffer = each](const char* key) {
      return std::to_string(buffer[key].get<std::uint64_t>());
    };
    table.add({id, number("size"), number("capacity"), number("pushed"), number("sampled"),
               fmt::format("{} to push, {} to sample", number("waiting_pushes"),
                           number("waiting_samples"))});
  }
  return table.empty() ? "" : "\n" + table.text(console.width);
}

}  // namespace

Result<std::string> pool_text(const json& status, const Console& console) try {
  std::string text = workers_text(status.at("workers"), console) +
                     TRY(tasks_text(status.at("tasks"), console)) +
                     buffers_text(status.at("buffers"), console);
  const std::size_t shown = status.at("tasks").size();
  if (const auto count = status.at("task_count").get<std::size_t>(); count > shown)
    text += fmt::format("... and {} more tasks\n", count - shown);
  return text;
} catch (const json::exception&) {
  return fail("the coordinator says what this attune does not understand: see --json");
}

}  // namespace attune
