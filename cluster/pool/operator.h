#pragma once
// An operator starts workers and lets them go. After each change the coordinator's server shows it
// the state (look), and the operator answers through its port. It gets the time as an argument, in
// seconds since 1970-01-01 UTC; the server calls tick() when next_time() has come, or earlier.
//
// An operator sees durable state only. So when it has requested a worker for a task, under a name
// made of the task's id, the next coordinator still knows that task after a crash.
//
// All calls come from one thread.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/pool/coordinator.h"

namespace attune {

// Waiting tasks with the same requirements.
struct WaitingLine {
  std::string task;  // the first of them
  std::string kind;
  Resources needs;
  std::vector<std::string> labels;
  std::string worker;  // the only one that may have them; empty: any
  std::size_t count = 1;
};
struct SeenWorker {
  WorkerState state = WorkerState::lost;
  Resources capacity;
  std::vector<std::string> labels, kinds;  // no kinds: any
  std::set<std::string> tasks;             // leased to it, not ended
  bool here() const { return state != WorkerState::lost; }
};
struct OperatorView {
  std::uint64_t epoch = 0;           // of the coordinator
  bool ending = false;               // no new task begins
  std::vector<WaitingLine> waiting;  // in the order of their first tasks' ids
  std::map<std::string, SeenWorker> workers;
};
OperatorView view_of(const Coordinator& coordinator);

// What an operator may ask of the coordinator. No function calls the operator back.
class OperatorPort {
 public:
  virtual ~OperatorPort() = default;
  virtual double now() const = 0;
  virtual std::string address() const = 0;  // that workers dial, for people
  // A worker of this name will not come, or not come back: Coordinator::worker_unavailable.
  virtual void worker_unavailable(const std::string& worker, const std::string& cause) = 0;
  // No worker can be started for the waiting task, so it fails.
  virtual void refuse(const std::string& task, const std::string& cause) = 0;
  // Tells the client of a waiting task why it waits.
  virtual void explain(const std::string& task, const std::string& why) = 0;
  virtual void changed() = 0;  // next_time() or busy() may have changed
};

class Operator {
 public:
  virtual ~Operator() = default;
  virtual void look(const OperatorView& view, double now) = 0;
  virtual void tick(double now) = 0;
  virtual std::optional<double> next_time() const = 0;
  // Whether it has work that must not be cut off, such as cancelling jobs that nobody needs. The
  // server delays its own end for that, within limits.
  virtual bool busy() const = 0;
};
using MakeOperator = std::function<std::unique_ptr<Operator>(OperatorPort& port)>;

}  // namespace attune
