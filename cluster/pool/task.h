#pragma once
// A task is what the coordinator assigns to workers. Plain values; docs/coordinator.md explains the
// terms.
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "backends/resources.h"
#include "base/json.h"
#include "base/result.h"

namespace attune {

// The right of one worker to run one attempt. No number is used twice, not even by later
// coordinators; 0 means none.
using LeaseId = std::uint64_t;

enum class TaskState { queued, leased, running, closing, succeeded, failed, cancelled, lost };
std::string_view to_text(TaskState state);
Result<TaskState> parse_task_state(std::string_view text);
bool is_end(TaskState state);
// Whether the state machine has this transition.
bool may_become(TaskState from, TaskState to);

// In seconds; infinite: no limit.
struct TaskLimits {
  double queue = std::numeric_limits<double>::infinity();  // of each attempt, from queued to leased
  double run = std::numeric_limits<double>::infinity();  // of each attempt, from leased to the end
  double silent = std::numeric_limits<double>::infinity();  // since the last message about it
  int attempts = 1;                                         // in all, at least 1

  bool operator==(const TaskLimits&) const = default;
};

// A buffer that exists from the creation of its task until the end, over all attempts.
struct OwnedBuffer {
  std::string id;        // unique for ever
  std::string settings;  // JSON text, which TaskBuffers::check() accepts

  bool operator==(const OwnedBuffer&) const = default;
};

// The part of a task that never changes.
struct TaskSpec {
  std::string id;      // unique for ever: to submit it twice creates one task
  std::string kind;    // trial, learn, collect, evaluate, ...
  std::string client;  // who is told about it; empty: the task is the commander's
  Resources needs;
  std::vector<std::string> labels;  // the worker must have all of them
  std::string worker;               // the only worker that may have it; empty: any
  std::vector<OwnedBuffer> owns;
  std::vector<std::string> uses;  // buffers that it pushes to or samples from, by id
  std::int64_t priority = 0;      // higher ones first; equal ones in the order of creation
  TaskLimits limits;
  std::string program;  // JSON text: what the worker is to run. The coordinator does not read it

  bool operator==(const TaskSpec&) const = default;
};
// Whether the two have the same requirements: a worker that may have one may have the other.
inline bool want_the_same(const TaskSpec& a, const TaskSpec& b) {
  return a.kind == b.kind && a.client == b.client && a.worker == b.worker && a.labels == b.labels &&
         a.needs == b.needs;
}
json to_json(const TaskSpec& spec);
json to_json(const Resources& resources);
Result<Resources> parse_resources(const json& object);
// For what somebody sent: the error names the field and what it should be.
Result<TaskSpec> parse_task_spec(const json& text);

}  // namespace attune
