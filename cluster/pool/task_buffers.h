#pragma once
// The buffers of the tasks, as the server sees them. The server passes on what happens to tasks and
// what programs say, writes buffer records into its journal, and replays those after a restart.
//
// All calls come from one thread. The functions in BufferOutlets must not call TaskBuffers back.
#include <cstdint>
#include <functional>
#include <memory>

#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/board.h"
#include "cluster/pool/record.h"

namespace attune {

using BufferSession = std::uint64_t;  // identifies a program's connection

struct BufferOutlets {
  std::function<void(const json& record)> append;  // {"buffer": id, ...}
  std::function<void(BufferSession session, const json& message)> answer;
};

class TaskBuffers {
 public:
  virtual ~TaskBuffers() = default;

  // Whether the task may own the buffers that it names. The error names the wrong setting, or the
  // task that owns the buffer already.
  virtual Result<void> check(const TaskSpec& task) const = 0;

  // A record was applied to the board, live or in a replay. `task` is null when the record removed
  // it, or is about no task.
  virtual void hear(const Record& record, const Task* task) = 0;
  virtual Result<void> replay(const json& record) = 0;

  // A message (docs/wire.md) from the program of a task, which runs attempt `task.attempt`. An
  // error: the program may not say that, and is to be cut off.
  virtual Result<void> hear(BufferSession session, const Task& task, const json& message) = 0;
  virtual void gone(BufferSession session) = 0;  // it has closed: drop its waiting requests

  virtual json status() const = 0;
  virtual json save() const = 0;
  virtual Result<void> load(const json& state) = 0;  // on an error nothing has changed
};

// `seed`, together with the id of a buffer, determines all draws from that buffer.
using MakeTaskBuffers =
    std::function<std::unique_ptr<TaskBuffers>(std::uint64_t seed, BufferOutlets outlets)>;

}  // namespace attune
