#pragma once
// What the coordinator must not forget: the tasks. Changed by records only, so that the journal is
// all of it. One thread.
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
  std::uint64_t order = 0;  // of its creation, from 1
  int attempt = 0;
  LeaseId lease = 0;           // the present one, or the last
  std::string worker;          // that has it, or had it last
  std::string worker_key;      // the digest of its key; empty: it is not known
  double since = 0;            // when it came into its state; seconds since 1970-01-01 UTC
  double leased = 0;           // when the present attempt was
  std::string how;             // closing: "stop", "pause", "kill"
  std::string cause;           // of closing, of the newest attempt's end, of the end
  bool again = false;          // closing: the next attempt follows
  std::uint64_t position = 0;  // in what this attempt reports: what comes before it was taken
  std::string report;          // ended: JSON text of its worker; may be empty

  // Not in the journal.
  double heard = 0;         // when its worker last said something of it
  std::string waits_for;    // queued: why it waits, as the operator says; may be empty
  std::string obstacle;     // queued: why no worker may have it, as its client knows; may be empty
  bool said_again = false;  // leased: its worker heard the lease again, and may have begun it
};

class Board {
 public:
  // Does what the record says. An error, and nothing changed, when it does not follow from what is
  // there: an edge that the state machine does not have, a task that is unknown or known already.
  Result<void> apply(const Record& record);

  Task* find(const std::string& id);
  const std::unordered_map<std::string, Task>& tasks() const { return tasks_; }
  std::uint64_t epoch() const { return epoch_; }  // coordinators so far
  bool latched() const { return latched_; }
  // Larger than all before, of this and of all earlier coordinators.
  LeaseId next_lease() const { return lease_ + 1; }
  // The digest of the key that a client's name is bound to; empty: nobody has it. A name stays for
  // ever: a manager may come back after years, and whoever had its name by then would be given the
  // ends of its tasks. It costs some hundred bytes an experiment.
  std::string client_key(const std::string& client) const;
  // Of which the keys of programs are made (name_key.h); of the first coordinator.
  const std::string& secret() const { return secret_; }

  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  std::unordered_map<std::string, Task> tasks_;
  std::uint64_t epoch_ = 0, created_ = 0;
  LeaseId lease_ = 0;
  bool latched_ = false;
  std::string secret_;
  std::map<std::string, std::string> client_keys_;
};

}  // namespace attune
