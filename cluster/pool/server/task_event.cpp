#include "cluster/pool/server/task_event.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cluster/pool/coordinator.h"
#include "cluster/pool/trial_event.h"

namespace attune {

std::string task_event(const Record& record, const Task& task) {
  const std::string& id = task.spec.id;
  const bool learner = task.spec.kind == "learn";
  if (record.edge == Edge::info && task.spec.kind == "evaluate") {
    const json event = with_value(parse_json(record.text).value_or(json()));
    if (event.is_object() && event.value("type", json()) == "FINAL")
      return fmt::format("{}: {}", id, dump_json(event["value"]));
  }
  if (record.edge == Edge::running && learner)
    return fmt::format("{} runs on worker {}", id, task.worker);
  if (record.edge == Edge::requeued) return fmt::format("{} is tried again: {}", id, record.cause);
  if (record.edge == Edge::ended && task.spec.kind == "evaluate" &&
      record.state == TaskState::succeeded && task.how != kFinish && task.position == 0)
    return fmt::format("{} has reported nothing", id);
  const bool bad = record.state == TaskState::failed || record.state == TaskState::lost;
  if (record.edge == Edge::ended && (learner || bad))
    return fmt::format("{} {}{}", id, to_text(record.state),
                       record.cause.empty() ? "" : ": " + record.cause);
  return "";
}

}  // namespace attune
