// Limits on what a manager can make the daemon remember. A command beyond a limit is ignored, or
// carried out in part; the log says so, and for GE a NO does, too.
#include "dispatcher/dispatcher.h"

#include "dispatcher/trial_name.h"

namespace attune {

// Treats the refused part as a request with an id of its own, because a request gets one NO at
// most, and the tuner may have to answer NO to the granted part. The refusal goes through the
// tuner's queue, so that it comes in its turn.
void Dispatcher::refuse_trials(std::int64_t asked, std::int64_t refused) {
  const std::string reason = fmt::format(
      "{} of {} trials are refused: at most {} of one request (--max-request) and {} that have not "
      "ended (--max-outstanding)",
      refused, asked, options_.limits.request, options_.limits.outstanding);
  log_.error("RequestTrialJobs: {}", reason);
  to_tuner(Refuse{NoMore{jobs_.take_ids(1), reason}});
}

// Returns whether the job is known already, or there is room to remember it. Else logs an error.
bool Dispatcher::admit_job(const std::string& job, const ParameterId& parameter_id) {
  if (job.empty() || jobs_.knows(job) || quotas_.take_job(jobs_.ours(parameter_id))) return true;
  log_.error("job {} ignored: {} jobs beside those of our trials are known already (--max-jobs)",
             job, options_.limits.jobs);
  return false;
}

// The same for a trial that the manager adds.
bool Dispatcher::admit_trial(TrialId trial) {
  if (quotas_.add(trial)) return true;
  log_.error("added trial ignored: {} trials have not ended (--max-outstanding)",
             options_.limits.outstanding);
  return false;
}

bool Dispatcher::admit_report(TrialId trial, std::int64_t step) {
  const auto verdict = quotas_.take_report(trial, text_bytes_);
  if (verdict == Quotas::Verdict::refuse_first) {
    log_.warning(
        "intermediate result {} of {} and later ones ignored: at most {} of one trial "
        "(--max-history) and {} bytes of all that run (--max-histories) are kept",
        step, trial_name(trial), options_.limits.history, options_.limits.histories);
  }
  return verdict == Quotas::Verdict::take;
}

}  // namespace attune
