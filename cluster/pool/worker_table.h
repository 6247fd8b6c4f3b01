#pragma once
// The workers that there are, and what they have left. Soft: made anew of what they say when they
// come back, and of the leases on the board. One thread.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/resources.h"
#include "cluster/pool/task.h"

namespace attune {

struct HeldLease {
  std::string task;
  LeaseId lease = 0;
};
// What a worker says of itself when it comes.
struct WorkerHello {
  std::string id;           // the same after a restart: then it may go on with its tasks
  std::string incarnation;  // another one after a restart
  std::string host;
  std::int64_t pid = 0;
  Resources capacity;
  std::vector<std::string> labels;
  std::vector<std::string> kinds;  // of tasks that it takes; empty: all
  std::vector<HeldLease> running;  // that it knows of
  bool draining = false;
  std::string key = {};  // that its name is bound to (name_key.h)
};

enum class WorkerState {
  ready,
  draining,  // gets nothing new, and goes when it has nothing left
  lost,      // cannot be heard; for a while its tasks wait for it
};
std::string_view to_text(WorkerState state);

struct Worker {
  WorkerHello hello;  // without the key
  std::string key;    // the digest of it; empty: that of the next who comes
  WorkerState state = WorkerState::lost;
  Resources used;
  std::set<std::string> tasks;    // leased to it, not ended
  double since = 0;               // in its state
  std::set<std::string> refused;  // clients whose tasks it cannot run
  // What it is kept free for, with those that want the same; what is more important may have it.
  std::optional<TaskSpec> kept_for;
};

// Whether it may have the task at all: kind, labels, name, capacity when it has nothing else.
bool may_have(const Worker& worker, const TaskSpec& task);
// What of it keeps it from that, for people, as in "has 2 of 16 cpu". Empty: it may have it.
std::string obstacle(const Worker& worker, const TaskSpec& task);
// Whether it may have it now.
bool fits(const Worker& worker, const TaskSpec& task);
// Whether workers that have nothing else to do have room for all of them at the same time. Each is
// put where it first fits: exact for workers that are alike and tasks that are, but for the last.
bool have_room(std::vector<Worker> workers, const std::vector<TaskSpec>& tasks);
// It has the task from now on, or no more. Of a worker in the table: WorkerTable::take, release.
void add_task(Worker& worker, const TaskSpec& task);
void remove_task(Worker& worker, const TaskSpec& task);

class WorkerTable {
 public:
  Worker* find(const std::string& id);
  const std::map<std::string, Worker>& workers() const { return workers_; }
  // A new entry, lost, or the one that is there.
  Worker& at(const std::string& id);
  void erase(const std::string& id);

  // Of a worker that is there.
  void set_state(Worker& worker, WorkerState state, double now);
  void take(Worker& worker, const TaskSpec& task);           // has it from now on
  void release(Worker& worker, const TaskSpec& task);        // has it no more
  void come(Worker& worker, WorkerHello hello, double now);  // is ready, or draining

  // One that has the least to do of those that it fits.
  Worker* place_for(const TaskSpec& task);
  // One that has the least to do of those that may have it when they have nothing else, and that
  // are kept for nobody.
  Worker* to_keep_for(const TaskSpec& task);

 private:
  void leave_order(const Worker& worker);
  void enter_order(const Worker& worker);

  std::map<std::string, Worker> workers_;
  // The ready ones: tasks for each processor, then the name.
  std::set<std::pair<double, std::string>> order_;
};

}  // namespace attune
