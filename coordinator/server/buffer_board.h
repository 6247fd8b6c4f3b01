#pragma once
// The buffers of the tasks: each lives as long as its owner, from when that is queued on: who
// writes to it may run before the owner does.
//
// One thread. The functions that it is given are not to call it back.
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "coordinator/board.h"
#include "coordinator/record.h"
#include "coordinator/server/served_buffer.h"

namespace attune {

class BufferBoard {
 public:
  using SessionId = BufferSession;
  // `seed`: of all draws, together with the id of a buffer.
  BufferBoard(std::uint64_t seed, BufferOutlets outlets);
  BufferBoard(const BufferBoard&) = delete;
  BufferBoard& operator=(const BufferBoard&) = delete;

  // Whether a task may own the buffers that it asks for. The error names the setting, or whose a
  // buffer is.
  Result<void> check(const TaskSpec& task) const;

  // An edge of a task, behind Board::apply; live and in a replay. `task`: nullptr when it is gone.
  void hear(const Record& record, const Task* task);
  Result<void> replay(const json& record);

  // What the program of a task says (docs/coordinator.md), which runs attempt `task.attempt`. An
  // error: it may not say that, and is to be cut off.
  Result<void> hear(SessionId session, const Task& task, const json& message);
  void gone(SessionId session);  // nobody waits for its answers any more

  json status() const;
  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  ServedBuffer* find(const std::string& id) const;
  void open(const OwnedBuffer& buffer, const std::string& owner);
  void close(const std::string& id, const std::string& owner);
  void forget_attempt(const Task& task, int attempt);

  const std::uint64_t seed_;
  const BufferOutlets outlets_;
  std::map<std::string, std::unique_ptr<ServedBuffer>> buffers_;  // closed ones go
};

}  // namespace attune
