// Carries out decisions on trials (kills, pauses, checkpoints), as far as the manager's
// capabilities allow, and continues paused trials.
#include <utility>

#include "dispatcher/dispatcher.h"
#include "dispatcher/trial_name.h"

namespace attune {

void Dispatcher::carry_out(const Decision& decision) {
  const Capabilities& can = options_.capabilities;
  const auto note = [&](const std::string& job, const char* what) {
    log_.info("job {} is {}: {}", job, what, decision.reason);
  };
  switch (decision.action) {
    case Action::keep_going:
      return;
    case Action::stop:
      // A paused trial without a job cannot be killed, and no TrialEnd will come: it ends here.
      if (jobs_.give_up(decision.trial)) return end_trials({{decision.trial}, End::stopped});
      if (const auto job = jobs_.pass_gate(decision)) {
        note(*job, decision.complete ? "complete" : "stopped early");
        send(
            KillTrialJob{*job, can.reason ? decision.reason : "", can.reason && decision.complete});
      }
      return;
    case Action::pause:
      if (const auto job = jobs_.pass_gate(decision, /*by_kill=*/!can.pause); !job) {
        return;
      } else {
        note(*job, "paused");
        if (can.pause) {
          send(PauseTrialJob{*job, decision.reason});
        } else {
          send(KillTrialJob{*job, can.reason ? decision.reason : "", false});
        }
      }
      return;
    case Action::checkpoint:
      if (!can.checkpoint) return;
      if (const auto job = jobs_.pass_gate(decision)) send(SaveCheckpoint{*job});
      return;
    case Action::drop_checkpoint:
      if (const auto checkpoint = jobs_.checkpoints().take(decision.trial)) {
        if (can.checkpoint) send(DropCheckpoint{*checkpoint});
      }
      return;
  }
}

void Dispatcher::answer(Offer& m) {
  if (waits_for_checkpoint(m)) return;
  NewTrialJob job;
  job.parameter_id = ParameterId(m.asked);
  const bool resumed = m.trial != m.asked;
  if (resumed) {
    const auto resume = jobs_.resume(m.trial);
    if (!resume.possible) {
      // The trial has ended, or will: it was killed. The tuner has not heard of it yet, so it is
      // asked again for this id.
      log_.debug("trial {} does not go on: it has ended", m.trial);
      quotas_.asked(m.asked, 1);
      push_own(AskTrials{m.asked, m.asked, 1});
      return;
    }
    jobs_.alias(m.asked, m.trial);
    job.resume_trial_job_id = resume.job;
  }
  if (options_.capabilities.checkpoint) {
    if (m.checkpoint_from) {
      job.checkpoint_from = jobs_.checkpoints().newest(*m.checkpoint_from);
      if (job.checkpoint_from.empty()) {
        log_.warning("trial {} starts from scratch: {} has no checkpoint", m.trial,
                     trial_name(*m.checkpoint_from));
      }
      // The trial continues in a new job, which starts from the trial's own checkpoint.
    } else if (resumed && job.resume_trial_job_id.empty()) {
      job.checkpoint_from = jobs_.checkpoints().newest(m.trial);
    }
  }
  job.parameters = std::move(m.parameters);
  if (!m.reason.empty()) {
    // A new trial has no job yet.
    const std::string who =
        job.resume_trial_job_id.empty() ? trial_name(m.trial) : "job " + job.resume_trial_job_id;
    const std::string from =
        job.checkpoint_from.empty() ? "" : " (from checkpoint " + job.checkpoint_from + ")";
    log_.info("{} {}{}: {}", who, resumed ? "goes on" : "starts", from, m.reason);
  }
  if (options_.capabilities.reason && options_.revision >= 1) job.reason = std::move(m.reason);
  quotas_.offered(m.asked, m.trial);
  send(job);
}

// Returns whether the offer has to wait for a checkpoint. One that is being saved must be waited
// for, because the tuner knows that state of the trial and not an older one. If the trial runs and
// has no checkpoint at all, this asks it for one.
bool Dispatcher::waits_for_checkpoint(Offer& m) {
  if (!m.checkpoint_from || !options_.capabilities.checkpoint) return false;
  const TrialId from = *m.checkpoint_from;
  const Jobs::Saving saving = jobs_.saving(from, /*of_stopped=*/options_.revision >= 1);
  if (saving == Jobs::Saving::no) return false;
  if (saving == Jobs::Saving::possible) {
    if (!jobs_.checkpoints().newest(from).empty()) return false;
    carry_out({from, Action::checkpoint, ""});
  }
  jobs_.checkpoints().wait(from, std::move(m));
  return true;
}

void Dispatcher::release_offers(TrialId trial) {
  for (Offer& offer : jobs_.checkpoints().released(trial)) answer(offer);
}

void Dispatcher::remember(TrialId trial, const std::string& checkpoint) {
  const auto former = jobs_.checkpoints().put(trial, checkpoint);
  if (former && options_.capabilities.checkpoint) send(DropCheckpoint{*former});
}

void Dispatcher::route(const CheckpointSaved& c) {
  const auto trial = jobs_.saved(c.trial_job_id);
  if (!trial) {
    log_.warning("checkpoint of {} ignored: an unknown job", c.trial_job_id);
    return;
  }
  if (!c.checkpoint.empty()) {
    remember(*trial, c.checkpoint);
  } else {
    log_.warning("no checkpoint of {} could be saved", trial_name(*trial));
  }
  if (options_.wants_reports) to_tuner(CheckpointAnswered{*trial, !c.checkpoint.empty()});
  for (Offer& offer : jobs_.checkpoints().released(*trial)) {
    // The trial saved nothing, so the offer starts from scratch: asking again would bring the same
    // answer.
    if (jobs_.checkpoints().newest(*trial).empty()) offer.checkpoint_from.reset();
    answer(offer);
  }
}

// PAUSED and PAUSE_FAILED are not ends: the assessor keeps the history and hears nothing, and the
// session does not tell the tuner.
void Dispatcher::on_pause(const TrialEnd& c) {
  const bool failed = c.event == TrialEnd::Event::pause_failed;
  const bool decided = !failed && jobs_.pause_asked(c.trial_job_id);
  const auto trials = failed ? std::optional(jobs_.pause_failed(c.trial_job_id))
                             : jobs_.paused(c.trial_job_id, c.parameter_id);
  if (!trials || trials->empty()) {
    log_.debug("{} of {} ignored: it does not run", failed ? "PAUSE_FAILED" : "PAUSED",
               c.trial_job_id);
    return;
  }
  if (!failed && !c.checkpoint.empty()) remember(trials->front(), c.checkpoint);
  to_tuner(TrialsPaused{*trials, failed, decided});
  for (const TrialId trial : *trials) release_offers(trial);
}

}  // namespace attune
