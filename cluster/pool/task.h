#pragma once
// What is assigned to workers. Values; docs/coordinator.md has the words.
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "backends/resources.h"
#include "base/json.h"
#include "base/result.h"

namespace attune {

// The right of one worker to run one attempt. Numbers are given out once, over all lives of the
// coordinator; 0 is none.
using LeaseId = std::uint64_t;

enum class TaskState { queued, leased, running, closing, succeeded, failed, cancelled, lost };
std::string_view to_text(TaskState state);
Result<TaskState> parse_task_state(std::string_view text);
bool is_end(TaskState state);
// Whether the state machine has this edge.
bool may_become(TaskState from, TaskState to);

// In seconds; infinite: none.
struct TaskLimits {
  double queue = std::numeric_limits<double>::infinity();   // from queued to leased, each attempt
  double run = std::numeric_limits<double>::infinity();     // from leased to the end, each attempt
  double silent = std::numeric_limits<double>::infinity();  // without a word of the running task
  int attempts = 1;                                         // that may be made in all, at least 1

  bool operator==(const TaskLimits&) const = default;
};

// A buffer that lives as long as its task, queued or running, over all attempts.
struct OwnedBuffer {
  std::string id;        // unique for ever
  std::string settings;  // JSON text; buffer/

  bool operator==(const OwnedBuffer&) const = default;
};

// What never changes about a task.
struct TaskSpec {
  std::string id;      // unique for ever: the idempotency key of a submission
  std::string kind;    // trial, learn, collect, evaluate, ...
  std::string client;  // who is told; empty: the commander's own
  Resources needs;
  std::vector<std::string> labels;  // that the worker must have, all of them
  std::string worker;               // the only one that may have it; empty: any
  std::vector<OwnedBuffer> owns;
  std::vector<std::string> uses;  // ids of buffers that it pushes to or samples from
  std::int64_t priority = 0;      // higher goes first; equal ones in their order
  TaskLimits limits;
  std::string program;  // JSON text: what the worker is to run. Not looked into here

  bool operator==(const TaskSpec&) const = default;
};
// Whichever of them is first may have what either of them waits for.
inline bool want_the_same(const TaskSpec& a, const TaskSpec& b) {
  return a.kind == b.kind && a.client == b.client && a.worker == b.worker && a.labels == b.labels &&
         a.needs == b.needs;
}
json to_json(const TaskSpec& spec);
json to_json(const Resources& resources);
Result<Resources> parse_resources(const json& object);
// Of what somebody sent: the error names the field and what it should be.
Result<TaskSpec> parse_task_spec(const json& text);

}  // namespace attune
