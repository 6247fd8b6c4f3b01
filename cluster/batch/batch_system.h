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

  // Looks for the name first, and submits the job only if no job has it. An answer may get lost
  // after the job was accepted; because of the look it is always safe to submit again. After a
  // refusal that is not permanent the caller should wait some seconds, until what was on its way
  // has arrived. While the answer for a name is still to come, the name is refused, not
  // permanently.
  virtual void submit(BatchJob job, OnSubmitted done) = 0;

  // All jobs of this user that the batch system knows. It forgets ended jobs after some minutes,
  // and a controller that crashes forgets those of its last seconds. So a job that is absent for
  // longer than a minute is lost.
  virtual void list(OnListed done) = 0;

  // Ends the jobs of these names: pending ones at once, running ones by SIGTERM and, some seconds
  // later, SIGKILL. Names without a job, or of ended jobs, are no error. A job whose submission is
  // not answered yet may still appear afterwards.
  virtual void cancel(std::vector<std::string> names, OnDone done) = 0;
};

}  // namespace attune
