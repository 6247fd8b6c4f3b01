#pragma once
// A buffer of the coordinator and the programs that wait at it. Pushes and samples are answered
// when they can be done, those that have to wait when something has changed (buffer.h). What
// changes the buffer is a record.
//
// Who wants a batch says its number, and is given the last one again as often as it asks for that:
// what a consumer has not heard, because it or the coordinator was cut off, is not lost. A batch
// may be larger than a frame: an answer has the items from `from` on, as many as fit, and the
// consumer asks on.
//
// One thread. The functions that it is given are not to call it back.
#include <cstdint>
#include <deque>
#include <list>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/task_buffers.h"
#include "cluster/workload/buffer/buffer.h"

namespace attune {

// Of one answer: some 7 MiB as JSON where each byte of `meta` takes six there.
inline constexpr std::size_t kMostPartItems = 10'000, kMostPartBytes = std::size_t{1} << 20;

class ServedBuffer {
 public:
  // `owner`: the id of a task. `outlets` live longer.
  ServedBuffer(std::string id, std::string owner, std::string settings, Buffer buffer,
               const BufferOutlets& outlets);

  const std::string& owner() const { return owner_; }

  // `who`: an attempt of a task. An error: it may not say that, and is to be cut off.
  Result<void> hear(BufferSession session, const std::string& who, const json& message);
  void gone(BufferSession session);     // nobody waits for its answers any more
  void forget(const std::string& who);  // the attempt has ended
  void close();                         // who waits is told so

  Result<void> replay(const json& record);
  json status() const;
  json save() const;
  static Result<ServedBuffer> load(const std::string& id, const json& state,
                                   const BufferOutlets& outlets);

 private:
  struct WaitingPush {
    BufferSession session;
    std::string who;
    std::int64_t first;
    std::vector<BufferItem> items;
    std::size_t taken = 0;  // of them
  };
  struct WaitingSample {
    BufferSession session;
    std::string who;
    std::int64_t number;
    std::size_t size;
  };

  Result<void> push(BufferSession session, const std::string& who, const json& message);
  Result<void> sample(BufferSession session, const std::string& who, const json& message);
  Result<void> update(const json& message);
  Result<void> advance(const json& message);
  bool go_on(WaitingPush& push);
  bool push_waiting();
  bool sample_waiting();
  void pushed();
  void has_room();
  void answer_batch(BufferSession session, const GivenBatch& batch, std::size_t from) const;
  void append(json record) const;

  std::string id_, owner_, settings_;
  Buffer buffer_;
  const BufferOutlets* outlets_;
  // In the order in which they came, of each attempt at most one.
  std::list<WaitingPush> pushes_;
  std::deque<WaitingSample> samples_;
};

}  // namespace attune
