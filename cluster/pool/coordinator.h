#pragma once
// The state machine of the coordinator. Passive: what happens enters through its functions, with
// the time; what is to be done leaves through Effects. After DI-engine's Coordinator, in the form
// of docs/coordinator.md.
//
// One thread. Effects are never called back into the coordinator.
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

// How a task of the commander is told to end when it has done what it was to do.
inline constexpr char kFinish[] = "finish";

struct CoordinatorOptions {
  double lost_after = 15;     // seconds for which the tasks of a worker that cannot be heard wait
  double start_within = 660;  // seconds without a word before it runs: workers try for 600
  double end_within = 60;     // seconds that a task may take to end when it was told to
  double patience = 30;       // seconds that a task waits before a worker is kept free for it
  double tell_after = 5;      // seconds after which a client hears that no worker may have a task
  std::string secret = {};    // of a new coordinator (Board::secret); an earlier one's stays
};

// What the coordinator wants to be done. Whoever does it does it in this order, what is said to
// others only when the records before it are durable.
class Effects {
 public:
  virtual ~Effects() = default;
  virtual void append(const Record& record) = 0;
  // The board has it; also of a record that is replayed. `task`: nullptr when it is gone.
  virtual void applied(const Record& record, const Task* task) = 0;

  // To a worker. `again`: it has been leased this to it before, and may have begun it.
  virtual void lease(const Task& task, bool again) = 0;
  virtual void cancel(const std::string& worker, const HeldLease& lease,
                      const std::string& how) = 0;
  virtual void tell(const Task& task, const json& message) = 0;
  virtual void say_again(const Task& task) = 0;  // the infos that were not acknowledged
  virtual void acknowledge_info(const std::string& worker, const HeldLease& lease,
                                std::uint64_t seq) = 0;
  virtual void acknowledge_end(const std::string& worker, const HeldLease& lease) = 0;
  virtual void dismiss(const std::string& worker) = 0;  // it was draining and has nothing left

  // To the client of the task.
  virtual void state_changed(const Task& task) = 0;  // also that it ended
  virtual void info(const Task& task, std::uint64_t seq, const json& event) = 0;
};

class Coordinator {
 public:
  Coordinator(CoordinatorOptions options, std::unique_ptr<Commander> commander, Effects& effects);
  ~Coordinator();

  // Once, first: a new coordinator, upon what an earlier one left on the board (restore). Its
  // workers are lost for now, and have `lost_after` to come back. Without a commander it takes
  // tasks again, also when the earlier one was told to end.
  void begin(double now);
  // Before begin(): from a snapshot, then the records behind it. All or nothing each.
  Result<void> load(const json& state);
  Result<void> replay(const Record& record);
  json save() const;

  // ---- workers
  // An error: it is refused, with the reason: its name is bound to another key for as long as that
  // worker is here, or has tasks and was not given up. Tasks of its own that it does not name are
  // leased to it again, under the same lease; what it should not run is cancelled.
  Result<void> worker_joined(const WorkerHello& hello, double now);
  void worker_lost(const std::string& worker, double now);  // its connection is gone
  void worker_drains(const std::string& worker, double now);
  void started(const std::string& worker, const HeldLease& lease, double now);
  // `seq` is for the acknowledgement. `position` grows within an attempt, and what is not behind
  // the last one has been heard before; 0: it has none, and may come twice.
  void info(const std::string& worker, const HeldLease& lease, std::uint64_t seq,
            std::uint64_t position, const json& event, double now);
  // `state`: succeeded, failed, cancelled or lost.
  void finished(const std::string& worker, const HeldLease& lease, TaskState state,
                const std::string& cause, const std::string& report, double now);
  // It cannot run tasks of this client; another worker may. That is no attempt, unless the task may
  // have begun under this lease.
  void refused(const std::string& worker, const HeldLease& lease, const std::string& why,
               double now);

  // It will not come, or not come back: tasks that wait for exactly this one are lost with that
  // cause, and so are those that it has, at once instead of after the silence. One that is here
  // is told to end them, and to go.
  void worker_unavailable(const std::string& worker, const std::string& cause, double now);

  // Somebody wants its machine: it takes nothing more, and goes when its tasks have ended.
  // Collectors there, which never end by themselves, are told to finish. An error: it is not here.
  Result<void> drain(const std::string& worker, double now);

  // ---- clients
  // It is here, perhaps again: hears the ends that it has not acknowledged. An error: its name is
  // bound to another key; the first that comes under a name binds it, for ever.
  Result<void> client_joined(const std::string& client, const std::string& key, double now);
  // A task that is known already is left as it is, which is said again; so are the infos that were
  // not acknowledged: only now is its client sure to listen for them. Ignored when nothing new
  // begins any more. Error: the task is somebody else's.
  Result<void> submit(const TaskSpec& spec, double now);
  // `how` ("stop", "pause", "kill") is for the worker. Ignored when it has ended. There is no other
  // attempt, but its manager may make another task of it.
  void cancel(const std::string& task, const std::string& how, const std::string& cause,
              double now);
  Result<void> tell(const std::string& task, const json& message);
  // The client has the infos up to `seq`, and reports up to `position`.
  void acknowledge(const std::string& task, std::uint64_t seq, std::uint64_t position);
  void forget(const std::string& task, double now);  // the client knows the end
  // No worker can be got for it. Ignored when it does not wait.
  void refuse_waiting(const std::string& task, const std::string& cause, double now);
  // Tells its client why a task waits. Ignored when it does not wait, or knows that.
  void explain(const std::string& task, const std::string& why);
  void finish_all(const std::string& cause,
                  double now);  // nothing new begins; what runs is stopped

  // ---- time
  // What is due is done; call it at next_time(), and whenever it suits.
  void tick(double now);
  std::optional<double> next_time() const;

  const Board& board() const { return board_; }
  const WorkerTable& workers() const { return workers_; }
  const TaskQueue& queue() const { return queue_; }
  std::size_t pausing() const { return pauses_.size(); }  // queued, but not in the queue yet
  // Nothing new begins, and nothing is left that runs or waits.
  bool finished() const;
  // That, of what a commander has decided: no other coordinator can go on with it either.
  bool over() const { return commander_ && finished(); }
  std::uint64_t fenced() const { return fenced_; }  // words under leases that are over
  // Why a waiting task waits, for people. Empty: it does not wait.
  std::string why_waiting(const Task& task) const;

 private:
  void append(const Record& record);
  void told(const Record& record, const Task* task);
  std::vector<Task*> in_order();  // of their creation
  Task* leased_to(const std::string& worker, const HeldLease& lease);
  static bool may_be_told(const Task& task, bool again);  // to end, which is an edge
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
  // When to look again.
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
  const std::unique_ptr<Commander> commander_;  // may be null: there are only clients
  Effects& effects_;
  Board board_;
  WorkerTable workers_;
  TaskQueue queue_;
  Alarms task_alarms_, worker_alarms_;
  Alarms pauses_;  // tasks that wait until their next attempt may begin
  double begun_ = 0;
  std::deque<Task> orphans_;  // as they were when their workers were given up; may run still
  std::map<std::string, std::string> kept_;  // task -> the worker that is kept free for it
  double look_at_ = std::numeric_limits<double>::infinity();  // when to look at what waits
  std::uint64_t fenced_ = 0;
};

}  // namespace attune
