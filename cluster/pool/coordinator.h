#pragma once
// The coordinator leases tasks to workers. This class is its state machine, without sockets, files
// or clocks: the caller reports each event and its time by a function, and the coordinator says
// through CoordinatorEffects what is to be done. docs/coordinator.md describes it for users.
//
// All calls come from one thread. A CoordinatorEffects function must not call the coordinator.
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/pool/alarms.h"
#include "cluster/pool/board.h"
#include "cluster/pool/commander.h"
#include "cluster/pool/task_queue.h"
#include "cluster/pool/worker_table.h"

namespace attune {

// The `how` with which a task of the commander is told to end when its work is done.
inline constexpr char kFinish[] = "finish";

struct CoordinatorOptions {
  // Seconds.
  double lost_after = 15;     // a disconnected worker keeps its tasks for so long
  double start_within = 660;  // a leased task may be silent for so long; workers try for 600
  double end_within = 60;     // a task that was told to end may take so long
  double patience = 30;       // a task waits so long before a worker is kept free for it
  double tell_after = 5;      // a client hears after so long that no worker can take its task

  std::string secret = {};  // Board::secret of a new coordinator; a restored one keeps its own
};

// What the coordinator wants done. The implementer keeps the order of the calls. It sends a message
// only once all records appended before it are durable.
class CoordinatorEffects {
 public:
  virtual ~CoordinatorEffects() = default;
  virtual void append(const Record& record) = 0;
  // The board holds the record's change; also called for a replayed record. `task` is null when the
  // record removed it, or is about no task.
  virtual void applied(const Record& record, const Task* task) = 0;

  // Messages to a worker. `again`: the worker had this lease before, and may have begun the task.
  virtual void lease(const Task& task, bool again) = 0;
  virtual void cancel(const std::string& worker, const HeldLease& lease,
                      const std::string& how) = 0;
  virtual void tell(const Task& task, const json& message) = 0;
  virtual void say_again(const Task& task) = 0;  // send the unacknowledged infos once more
  virtual void acknowledge_info(const std::string& worker, const HeldLease& lease,
                                std::uint64_t seq) = 0;
  virtual void acknowledge_end(const std::string& worker, const HeldLease& lease) = 0;
  virtual void dismiss(const std::string& worker) = 0;  // it drained, and has no task left

  // Messages to the client of the task.
  virtual void state_changed(const Task& task) = 0;  // including its end
  virtual void info(const Task& task, std::uint64_t seq, const json& event) = 0;
};

class Coordinator {
 public:
  Coordinator(CoordinatorOptions options, std::unique_ptr<Commander> commander,
              CoordinatorEffects& effects);
  ~Coordinator();

  // Starts to work, once, after load() and replay(). Workers that held a lease count as lost, and
  // have `lost_after` seconds to come back. A coordinator without a commander accepts tasks again
  // even if the one before it was told to end.
  void begin(double now);
  // Before begin(): load() a snapshot, then replay() the records written after it. After an error
  // the coordinator may hold a part of them, and must not be used.
  Result<void> load(const json& state);
  Result<void> replay(const Record& record);
  json save() const;

  // ---- workers
  // Compares what the worker says it runs with its leases. A leased task that it does not name is
  // sent to it again under the same lease; a task that it should not run is cancelled. Error:
  // another worker holds the name, and this one is refused. A key holds a name while its worker is
  // connected, or has tasks and was not given up. While it is connected no other process may come
  // under the name, not even with the key.
  Result<void> worker_joined(const WorkerHello& hello, double now);
  void worker_lost(const std::string& worker, double now);  // its connection closed
  void worker_drains(const std::string& worker, double now);
  void started(const std::string& worker, const HeldLease& lease, double now);
  // A running task sent an event. `seq` identifies it in the acknowledgement. `position` grows
  // within an attempt: an event at or before the last position is a repetition. The commander does
  // not hear repetitions; clients do, and drop them. An event without a position has 0, and may be
  // heard twice.
  void info(const std::string& worker, const HeldLease& lease, std::uint64_t seq,
            std::uint64_t position, const json& event, double now);
  // `state`: succeeded, failed, cancelled or lost.
  void finished(const std::string& worker, const HeldLease& lease, TaskState state,
                const std::string& cause, const std::string& report, double now);
  // The worker cannot run tasks of this client; another one may. The refusal does not count as an
  // attempt, unless the task may have begun under this lease.
  void refused(const std::string& worker, const HeldLease& lease, const std::string& why,
               double now);

  // The worker will not come, or not come back. Tasks that wait for this very worker end as lost,
  // with this cause. The attempts that it runs are lost at once instead of after `lost_after`; the
  // limits of their tasks may allow another attempt. A connected worker is told to end its tasks
  // and to leave.
  void worker_unavailable(const std::string& worker, const std::string& cause, double now);

  // The worker gets no new task, and leaves when its tasks have ended. Tasks that yield
  // (Commander::yields) never end by themselves, so they are told to finish. Error: no such worker
  // is connected.
  Result<void> drain(const std::string& worker, double now);

  // ---- clients
  // The client connected, perhaps again. It is told of every end that it has not acknowledged.
  // Error: another key holds its name. The first key that comes with a client's name holds it for
  // ever.
  Result<void> client_joined(const std::string& client, const std::string& key, double now);
  // Adds a task. A known task stays as it is; its client hears its state and its unacknowledged
  // infos again, because only now is the client sure to listen for them. After finish_all() new
  // tasks are ignored. Error: the task belongs to another client.
  Result<void> submit(const TaskSpec& spec, double now);
  // Ends the task; no other attempt follows. `how` ("stop", "pause", "kill") goes to the worker.
  // Ignored for an ended task. The trial may go on as another task.
  void cancel(const std::string& task, const std::string& how, const std::string& cause,
              double now);
  Result<void> tell(const std::string& task, const json& message);
  // The client has stored the infos up to `seq`, and the reports up to `position`.
  void acknowledge(const std::string& task, std::uint64_t seq, std::uint64_t position);
  void forget(const std::string& task, double now);  // the client has stored its end
  // No worker can be started for the task. Ignored unless the task waits.
  void refuse_waiting(const std::string& task, const std::string& cause, double now);
  // Tells the client why the task waits. Ignored unless it waits, or if the client knows already.
  void explain(const std::string& task, const std::string& why);
  // Accepts no new task, cancels those that wait, and tells the others to stop.
  void finish_all(const std::string& cause, double now);

  // ---- time
  // Does what is due. Call it at next_time(); an earlier call does no harm.
  void tick(double now);
  std::optional<double> next_time() const;

  const Board& board() const { return board_; }
  const WorkerTable& workers() const { return workers_; }
  const TaskQueue& queue() const { return queue_; }
  std::size_t pausing() const { return pauses_.size(); }  // tasks between two attempts
  // No task runs or waits, and none will begin.
  bool finished() const;
  // The commander's work is finished: a later coordinator has nothing to continue.
  bool over() const { return commander_ && finished(); }
  // How often a worker spoke of a lease that does not count, or no longer does.
  std::uint64_t fenced() const { return fenced_; }
  // Why the task waits, as text for people; empty when it does not wait.
  std::string why_waiting(const Task& task) const;

 private:
  void append(const Record& record);
  void told(const Record& record, const Task* task);
  std::vector<Task*> in_order();  // by time of creation
  Task* leased_to(const std::string& worker, const HeldLease& lease);
  // Whether telling the task to end changes anything. `again`: another attempt may follow.
  static bool may_be_told(const Task& task, bool again);
  bool owns(const Task& task) const { return task.spec.client.empty(); }
  void create(const TaskSpec& spec, double now);
  void enqueue(Task& task, double now);
  void lease(Task& task, Worker& worker, double now);
  void fill(const std::string& worker, double now);
  void go_on(double now);
  void close(Task& task, const std::string& how, const std::string& cause, bool again, double now);
  void try_again(Task& task, int attempt, const std::string& cause, double now);
  void end(Task& task, TaskState state, const std::string& cause, const std::string& report,
           double now);
  bool may_try_again(const Task& task, TaskState state, const std::string& cause) const;
  void attempt_over(Task& task, TaskState state, const std::string& cause,
                    const std::string& report, double now);
  void end_orphans(const WorkerHello& hello, const std::string& worker_key);
  void abandon(Worker& worker, const std::string& cause, double now);
  // Both return the time of the next look at the waiting tasks.
  double keep_room(double now);
  double tell_obstacles(double now);
  std::string why_nobody(const TaskSpec& spec) const;
  std::string why_no_place(const Task& task) const;
  static double pause_before(int attempt);  // seconds
  void wait_in_line(Task& task, double now);
  void give_room_back(const std::string& task, double now);
  void make_places(double now);
  void make_place(const TaskSpec& waits, double now);
  std::optional<std::vector<Task*>> to_give_back(const Worker& worker, const TaskSpec& waits);
  bool yields(const Task& task) const {
    return owns(task) && commander_ && commander_->yields(task);
  }
  void watch(const Task& task);
  double deadline_of(const Task& task) const;
  void overdue(Task& task, double now);

  const CoordinatorOptions options_;
  const std::unique_ptr<Commander> commander_;  // null: only clients submit tasks
  CoordinatorEffects& effects_;
  Board board_;
  WorkerTable workers_;
  TaskQueue queue_;
  Alarms task_alarms_, worker_alarms_;
  Alarms pauses_;  // of tasks whose next attempt may not begin yet
  double begun_ = 0;
  std::deque<Task> orphans_;  // copies of tasks that workers which were given up may still run
  std::map<std::string, std::string> kept_;                   // task -> the worker kept free for it
  double look_at_ = std::numeric_limits<double>::infinity();  // next look at the waiting tasks
  std::uint64_t fenced_ = 0;
};

}  // namespace attune
