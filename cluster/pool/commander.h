#pragma once
// A commander decides which tasks exist: it asks for new ones and ends those that have nothing left
// to do. The idea is that of DI-engine's commanders. Ours differs in one point: its state
// depends on nothing but the coordinator's calls. A restored coordinator loads the state of its
// snapshot and repeats the calls that followed, which leads to the same state.
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/board.h"

namespace attune {

// All calls come from one thread. `now` is in seconds since 1970-01-01 UTC.
class Commander {
 public:
  virtual ~Commander() = default;

  // The next task that should exist. The coordinator asks after every event, until the answer is
  // empty. Asking changes nothing: the commander counts the task once created() was called.
  virtual std::optional<TaskSpec> next(double now) const = 0;
  // The id of a live task that has nothing left to do, so that the coordinator tells it to finish;
  // empty when there is none. Asked like next(). No task is named again after told_to_finish().
  virtual std::string superfluous() const = 0;
  // The time at which next() may answer differently although no event happened; infinity when only
  // an event can change its answer.
  virtual double next_time() const = 0;

  virtual void created(const Task& task) = 0;
  // A worker has the task now, or the task waits for another attempt. A coordinator that begins
  // calls this for every live task.
  virtual void moved(const Task& task) = 0;
  // A running task sent a report: {"event": "report", "type": "PERIODICAL" or "FINAL",
  // "sequence": 3, "value": what the program reported, ...}.
  virtual void on_info(const Task& task, const json& info) = 0;
  // Whether this task gives up its place to a waiting task of the commander that does not yield
  // itself. A task that only the commander ends must yield: otherwise it would hold its place for
  // ever, and the waiting task would never start.
  virtual bool yields(const Task& task) const = 0;
  // Each list names tasks that must run at the same time. `attune coordinator` refuses to start if
  // its workers have room for each task of a list but never for all: the last one would wait for
  // ever. The answer never changes. Its task names appear in messages only.
  virtual std::vector<std::vector<TaskSpec>> together() const { return {}; }
  // Whether the ended task gets another attempt. Asked only while its limits allow one.
  virtual bool retry(const Task& task, TaskState end, const std::string& cause) const = 0;
  // Somebody told the task to end, and it gets no other attempt.
  virtual void told_to_finish(const Task& task) = 0;
  virtual void ended(const Task& task) = 0;

  // Whether all work is done. Once true, it stays true.
  virtual bool done() const = 0;
  // Why the work failed; empty when it did not. Meaningful once done() is true.
  virtual std::string failure() const = 0;

  virtual json save() const = 0;
  virtual Result<void> load(const json& state) = 0;  // on an error nothing has changed
};

}  // namespace attune
