#pragma once
// What gets more workers or lets some go. Event driven: the coordinator's server says how things
// stand after a change, and the operator answers through its port. Passive as the coordinator
// is: time is an argument, in seconds since 1970-01-01 UTC, and the server calls tick().
//
// What an operator is shown is durable: a worker that was asked for on behalf of a task, under a
// name made of the task's id, is known to the next coordinator, whatever happens to this one.
//
// One thread.
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

// Tasks that wait and want the same.
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
  bool ending = false;               // nothing new begins
  std::vector<WaitingLine> waiting;  // in the order of their first tasks' ids
  std::map<std::string, SeenWorker> workers;
};
OperatorView view_of(const Coordinator& coordinator);

// Never called back into the operator from within.
class OperatorPort {
 public:
  virtual ~OperatorPort() = default;
  virtual double now() const = 0;
  virtual std::string address() const = 0;  // that workers dial, for people
  // A worker of this name will not come, or not come back: Coordinator::worker_unavailable.
  virtual void worker_unavailable(const std::string& worker, const std::string& cause) = 0;
  // A waiting task that no worker can be got for: it has failed.
  virtual void refuse(const std::string& task, const std::string& cause) = 0;
  // To the client of a waiting task.
  virtual void explain(const std::string& task, const std::string& why) = 0;
  virtual void changed() = 0;  // next_time() or busy() may say something else
};

class Operator {
 public:
  virtual ~Operator() = default;
  virtual void look(const OperatorView& view, double now) = 0;
  virtual void tick(double now) = 0;
  virtual std::optional<double> next_time() const = 0;
  // It has something to do that must not be cut off, such as cancelling what nobody needs.
  virtual bool busy() const = 0;
};
using MakeOperator = std::function<std::unique_ptr<Operator>(OperatorPort& port)>;

}  // namespace attune
