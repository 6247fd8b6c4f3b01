#pragma once
// The known workers, and what capacity they have left. Not stored: rebuilt from what the workers
// say when they reconnect, and from the leases on the board. All calls come from one thread.
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
// What a worker says about itself when it connects.
struct WorkerHello {
  std::string id;           // its name; the same after a restart, so that it can continue its tasks
  std::string incarnation;  // a new one for each process
  std::string host;
  std::int64_t pid = 0;
  Resources capacity;
  std::vector<std::string> labels;
  std::vector<std::string> kinds;  // kinds of tasks that it takes; empty: all
  std::vector<HeldLease> running;  // leases that it knows of
  bool draining = false;
  std::string key = {};  // that proves that it owns its name (name_key.h)
};

enum class WorkerState {
  ready,
  draining,  // gets no new task, and leaves when it has none left
  lost,      // not connected; its tasks wait for it for a while
};
std::string_view to_text(WorkerState state);

struct Worker {
  WorkerHello hello;  // without the key
  std::string key;    // digest of the key; empty: the next worker of this name sets it
  WorkerState state = WorkerState::lost;
  Resources used;
  std::set<std::string> tasks;    // leased to it, not ended
  double since = 0;               // when `state` began
  std::set<std::string> refused;  // clients whose tasks it cannot run
  // The task that it is kept free for. Until that task has a worker, this one gets only tasks with
  // the same requirements or with higher priority.
  std::optional<TaskSpec> kept_for;
};

// Whether the worker could take the task if it had no other: kind, labels, name and capacity
// suffice, and it has not refused the task's client.
bool may_have(const Worker& worker, const TaskSpec& task);
// Why may_have() is false, for people, as in "has 2 of 16 cpu"; empty: it is true.
std::string obstacle(const Worker& worker, const TaskSpec& task);
// Whether the worker can take the task now: it may have it, is ready, has room, and is not kept
// free for another task.
bool fits(const Worker& worker, const TaskSpec& task);
// Whether workers that have nothing else to do have room for all tasks at the same time. Puts each
// task on the first worker that it fits. The answer is exact if all workers are alike and all tasks
// but the last are alike; else it may miss a possible arrangement.
bool have_room(std::vector<Worker> workers, const std::vector<TaskSpec>& tasks);
// The worker has the task from now on, or no more. For a worker in a WorkerTable use take() and
// release(), which also keep the table's order.
void add_task(Worker& worker, const TaskSpec& task);
void remove_task(Worker& worker, const TaskSpec& task);

class WorkerTable {
 public:
  Worker* find(const std::string& id);
  const std::map<std::string, Worker>& workers() const { return workers_; }
  // The entry of that name. If there is none, makes one in the state lost.
  Worker& at(const std::string& id);
  void erase(const std::string& id);

  // `worker` must be an entry of this table.
  void set_state(Worker& worker, WorkerState state, double now);
  void take(Worker& worker, const TaskSpec& task);     // has it from now on
  void release(Worker& worker, const TaskSpec& task);  // has it no more
  // It has connected: it is ready now, or draining if it says so.
  void come(Worker& worker, WorkerHello hello, double now);

  // The worker with the fewest tasks per processor among those that the task fits now (fits());
  // null: none.
  Worker* place_for(const TaskSpec& task);
  // The ready worker with the fewest tasks per processor that may have the task (may_have()) and is
  // not kept free for another; null: none.
  Worker* to_keep_for(const TaskSpec& task);

 private:
  void leave_order(const Worker& worker);
  void enter_order(const Worker& worker);

  std::map<std::string, Worker> workers_;
  // The ready workers: tasks for each processor, then the name. An entry's key depends on the
  // worker's tasks and capacity, so a worker leaves the set before these change and enters it
  // afterwards.
  std::set<std::pair<double, std::string>> order_;
};

}  // namespace attune
