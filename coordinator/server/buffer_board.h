#pragma once
// The buffers of the tasks: each lives as long as its owner, from when that is queued on: who
// writes to it may run before the owner does. Answers pushes and samples when they can be done;
// those that have to wait are tried again when something has changed. What changes a buffer is a
// record, so that a later coordinator has the same.
//
// One thread. The functions that it is given are not to call it back.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "coordinator/board.h"
#include "coordinator/buffer/buffer.h"
#include "coordinator/record.h"

namespace attune {

class BufferBoard {
 public:
  using SessionId = std::uint64_t;
  struct Outlets {
    std::function<void(const json& record)> append;  // {"buffer": id, ...}
    std::function<void(SessionId session, const json& message)> answer;
  };
  // `seed`: of all draws, together with the id of a buffer.
  BufferBoard(std::uint64_t seed, Outlets outlets);
  ~BufferBoard();

  // Settings of a buffer that a task is to own. The error names the setting.
  static Result<void> check(const OwnedBuffer& buffer);

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
  struct Entry;

  void open(const OwnedBuffer& buffer);
  void close(const std::string& id);
  void forget_producer(const Task& task, int attempt);
  Result<void> push(Entry& entry, SessionId session, const Task& task, const json& message);
  Result<void> sample(Entry& entry, SessionId session, const json& message);
  void go_on(Entry& entry);
  bool push_waiting(Entry& entry);
  bool sample_waiting(Entry& entry);

  const std::uint64_t seed_;
  const Outlets outlets_;
  std::map<std::string, std::unique_ptr<Entry>> buffers_;  // closed ones go
};

}  // namespace attune
