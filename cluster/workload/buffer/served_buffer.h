#pragma once
// A buffer of the coordinator, with the requests of programs that wait at it. Pushes and samples
// are answered when they can be done; waiting ones are tried again when something has changed
// (buffer.h). Calls that change the buffer are appended as records (buffer_record.h).
//
// A consumer names the number of the batch that it wants, and gets its last batch again whenever it
// asks for that. So a batch is not lost if the consumer did not receive it because it or the
// coordinator was cut off. A batch may be larger than a frame: an answer has as many items as fit,
// starting with number `from`, and the consumer asks for the rest.
//
// All calls come from one thread. The functions in `outlets` must not call this object back.
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

// The limits of one answer. It has up to some 7 MiB of JSON, in which a byte of `meta` may take
// six.
inline constexpr std::size_t kMostPartItems = 10'000, kMostPartBytes = std::size_t{1} << 20;

class ServedBuffer {
 public:
  // `owner` is the id of a task. `outlets` must live longer.
  ServedBuffer(std::string id, std::string owner, std::string settings, Buffer buffer,
               const BufferOutlets& outlets);

  const std::string& owner() const { return owner_; }

  // `who` is an attempt of a task. An error: it may not say that, and is to be cut off.
  Result<void> hear(BufferSession session, const std::string& who, const json& message);
  void gone(BufferSession session);     // its connection has closed: drops its requests
  void forget(const std::string& who);  // the attempt has ended
  void close();                         // tells so to those who wait

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
    std::size_t taken = 0;  // how many of them were taken
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
  // In the order of arrival; at most one for each attempt.
  std::list<WaitingPush> pushes_;
  std::deque<WaitingSample> samples_;
};

}  // namespace attune
