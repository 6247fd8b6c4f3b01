#pragma once
// A batch system as its user sees it: jobs go in, states come out, by name.
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/batch/batch_job.h"

namespace attune {

// One thread makes all calls, and receives all answers: each call has exactly one, never from
// within the call, none after destruction. An answer must not destroy the system. Nothing here
// waits, polls or tries again: when to ask is the owner's business.
class BatchSystem {
 public:
  virtual ~BatchSystem() = default;

  using OnSubmitted = std::function<void(BatchSubmission)>;
  using OnListed = std::function<void(Result<BatchStates>)>;
  using OnDone = std::function<void(Result<void>)>;

  // Looks for the name, and submits only what is not there: an answer may get lost after the job
  // was accepted, and so it is always safe to submit again. After a refusal that is not permanent
  // wait some seconds first: what was on its way then has arrived. A name whose answer is still to
  // come is refused, not permanently.
  virtual void submit(BatchJob job, OnSubmitted done) = 0;

  // All jobs of this user that are there. A batch system forgets ended jobs after some minutes, and
  // a controller that crashes forgets those of its last seconds: a job that is absent for longer
  // than a minute is lost.
  virtual void list(OnListed done) = 0;

  // Ends the jobs of these names: pending ones at once, running ones by SIGTERM and, some seconds
  // later, SIGKILL. Names that are not there, or have ended, are no error. A name whose submission
  // is not answered yet may still come after it.
  virtual void cancel(std::vector<std::string> names, OnDone done) = 0;
};

}  // namespace attune
