#pragma once
// What decides which tasks there are. After the commanders of DI-engine, except that a commander is
// a function of what it was told: the coordinator tells it again when it is restored. So it may
// keep count of what is live.
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/board.h"

namespace attune {

// One thread. `now`: seconds since 1970-01-01 UTC.
class Commander {
 public:
  virtual ~Commander() = default;

  // The next task that should be there, if there is one; asked again until there is none, after
  // everything that happens. Says the same when asked twice: the task counts from created() on.
  virtual std::optional<TaskSpec> next(double now) const = 0;
  // One that is live and has nothing to do any more, and is told to finish; asked like next().
  // Empty: there is none. Whoever has been told is not named again.
  virtual std::string superfluous() const = 0;
  // When next() may say something else without anything happening; infinite: never.
  virtual double next_time() const = 0;

  virtual void created(const Task& task) = 0;
  // It has got a worker, or waits for another attempt; of all that are live also when a coordinator
  // begins.
  virtual void moved(const Task& task) = 0;
  // What a running task says: a report ({"event": "report", "type": "PERIODICAL" or "FINAL",
  // "sequence": 3, "value": what the program reported, ...}).
  virtual void on_info(const Task& task, const json& info) = 0;
  // Whether it gives its place to a task of the commander that waits and does not yield itself. A
  // task that ends by nobody's word but the commander's has to, or what is due would wait for ever.
  virtual bool yields(const Task& task) const = 0;
  // Lists of tasks that run at the same time: where there is room for each of a list and never for
  // all of it, the last one waits for ever. Their names are for people. The same always.
  virtual std::vector<std::vector<TaskSpec>> together() const { return {}; }
  // Whether there is to be another attempt; asked only while the limits of the task allow one.
  virtual bool retry(const Task& task, TaskState end, const std::string& cause) const = 0;
  // It is told to end, by whomever, and no attempt follows.
  virtual void told_to_finish(const Task& task) = 0;
  virtual void ended(const Task& task) = 0;

  // All is done: nothing that happens later changes that.
  virtual bool done() const = 0;
  // Of what is done: why it has failed. Empty: it has not.
  virtual std::string failure() const = 0;

  virtual json save() const = 0;
  virtual Result<void> load(const json& state) = 0;  // all or nothing
};

}  // namespace attune
