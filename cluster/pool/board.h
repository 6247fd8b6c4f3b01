#pragma once
// What a coordinator must remember across restarts: the tasks, and which key owns which client's
// name. Every change that must last is a record (record.h), so replaying the journal rebuilds it.
// All calls come from one thread.
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/record.h"
#include "cluster/pool/task.h"

namespace attune {

struct Task {
  TaskSpec spec;
  TaskState state = TaskState::queued;
  std::uint64_t order = 0;  // rank by creation, from 1
  int attempt = 0;
  LeaseId lease = 0;           // the present lease, or the last one
  std::string worker;          // that has the task, or had it last; empty: none so far
  std::string worker_key;      // digest of the worker's key; empty: unknown
  double since = 0;            // when `state` began; seconds since 1970-01-01 UTC
  double leased = 0;           // when the present attempt was leased
  std::string how;             // closing: "stop", "pause", "kill" or kFinish (coordinator.h)
  std::string cause;           // closing: why; queued: why the last attempt ended; ended: why
  bool again = false;          // closing: another attempt follows
  std::uint64_t position = 0;  // behind the newest report of this attempt that was taken
  std::string report;          // ended: JSON text from its worker; may be empty

  // Not in the journal.
  double heard = 0;       // time of the worker's last message about it
  std::string waits_for;  // queued: why it waits, from the operator; may be empty
  std::string obstacle;   // queued: why no worker can take it, as its client was told; may be empty
  bool said_again = false;  // leased: sent to the worker again, which may have begun the task
};

class Board {
 public:
  // Makes the record's change. Error, and nothing has changed: the record does not follow from the
  // present state. For example, the state machine has no such transition, or the task is unknown,
  // or a created one exists already.
  Result<void> apply(const Record& record);

  Task* find(const std::string& id);
  const std::unordered_map<std::string, Task>& tasks() const { return tasks_; }
  std::uint64_t epoch() const { return epoch_; }  // coordinators that have begun so far
  bool latched() const { return latched_; }
  // Larger than every lease number before it, of this and of all earlier coordinators.
  LeaseId next_lease() const { return lease_ + 1; }
  // The digest of the key that owns the client's name; empty: nobody owns it. A name is owned for
  // ever: a manager may come back after years, and another owner of its name would by then be told
  // of the ends of its tasks. This costs some hundred bytes for each experiment.
  std::string client_key(const std::string& client) const;
  // The keys of programs are derived from it (name_key.h). Drawn by the first coordinator.
  const std::string& secret() const { return secret_; }

  json save() const;
  Result<void> load(const json& state);  // on an error nothing has changed

 private:
  std::unordered_map<std::string, Task> tasks_;
  std::uint64_t epoch_ = 0, created_ = 0;
  LeaseId lease_ = 0;
  bool latched_ = false;
  std::string secret_;
  std::map<std::string, std::string> client_keys_;
};

}  // namespace attune
