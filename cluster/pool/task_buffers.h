#pragma once
// The buffers of the tasks as the server sees them: it hands on what happens to tasks and what
// programs say, writes their records into its journal, and replays those.
//
// One thread. The functions that they are given are not to call them back.
#include <cstdint>
#include <functional>
#include <memory>

#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/board.h"
#include "cluster/pool/record.h"

namespace attune {

using BufferSession = std::uint64_t;  // of a program's connection

struct BufferOutlets {
  std::function<void(const json& record)> append;  // {"buffer": id, ...}
  std::function<void(BufferSession session, const json& message)> answer;
};

class TaskBuffers {
 public:
  virtual ~TaskBuffers() = default;

  // Whether a task may own the buffers that it asks for. The error names the setting, or whose a
  // buffer is.
  virtual Result<void> check(const TaskSpec& task) const = 0;

  // An edge of a task, behind Board::apply; live and in a replay. `task`: nullptr when it is gone.
  virtual void hear(const Record& record, const Task* task) = 0;
  virtual Result<void> replay(const json& record) = 0;

  // What the program of a task says (docs/wire.md), which runs attempt `task.attempt`. An
  // error: it may not say that, and is to be cut off.
  virtual Result<void> hear(BufferSession session, const Task& task, const json& message) = 0;
  virtual void gone(BufferSession session) = 0;  // nobody waits for its answers any more

  virtual json status() const = 0;
  virtual json save() const = 0;
  virtual Result<void> load(const json& state) = 0;  // all or nothing
};

// `seed`: of all draws, together with the id of a buffer.
using MakeTaskBuffers =
    std::function<std::unique_ptr<TaskBuffers>(std::uint64_t seed, BufferOutlets outlets)>;

}  // namespace attune
