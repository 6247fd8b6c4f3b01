// TrialRunner: continues an experiment from what an earlier manager left.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "manager/trials/trial_runner.h"
#include "protocol/codec.h"

namespace attune {
namespace {

// The text of a FINAL with this result, as the trial may have reported it.
std::string final_text(const Decider::Resumed& resumed) {
  ReportMetricData metric;
  metric.type = ReportMetricData::Type::final;
  metric.parameter_id = resumed.trial.parameter_id;
  metric.trial_job_id = resumed.job_id;
  metric.value = resumed.result;
  return encode(metric).payload;
}

}  // namespace

void TrialRunner::restore(RestoredExperiment state) {
  restored_ = std::move(state);
  tally_ = restored_.tally;
  next_sequence_ = restored_.next_sequence;
  results_.restore(restored_.scored);
  earlier_seconds_ = restored_.seconds;
  status_ = std::move(restored_.status);
  for (const RestoredExperiment::Checkpoint& kept : restored_.checkpoints)
    checkpoints_.restore(kept.job_id, kept.id, kept.bytes, kept.ended);
  for (const RestoredExperiment::Trial& trial : restored_.live) {
    for (const std::string& id : trial.checkpoints) checkpoints_.reserve(trial.record.job_id, id);
  }
  if (restored_.state) status_.set_plateau(restored_.state->best, restored_.state->since_best);
}

// Takes over the trials in restored_: tells the decider, adopts the running ones, and saves again
// what was being saved. `known`: the decider remembers these trials and their reports.
void TrialRunner::take_over(bool known) {
  begun_ = true;
  std::vector<Decider::Resumed> resumed;
  std::vector<std::pair<LiveTrial*, RestoredExperiment::Trial*>> running;
  for (RestoredExperiment::Trial& old : restored_.live) {
    LiveTrial& added = add_restored(old);
    const TrialRecord& record = added.record;
    resumed.push_back({record.job_id, record.proposed, record.status == TrialStatus::paused,
                       record.checkpoint, record.final_metric});
    if (record.status == TrialStatus::running) running.push_back({&added, &old});
    if (old.save_first) added.pausing = checkpoints_.save(added);
  }
  if (known) decider_.recall(resumed);
  if (!known) readopt(resumed);
  update_tally();
  for (const auto& [trial, old] : running) adopt(*trial, *old);
  if (!known) judge_again();
  if (restored_.state) save_anew(*restored_.state, known);
  restored_ = {};
}

LiveTrial& TrialRunner::add_restored(RestoredExperiment::Trial& old) {
  LiveTrial trial;
  trial.record = std::move(old.record);
  trial.ids = std::move(old.ids);
  trial.ids.push_back(trial.record.proposed.parameter_id);
  trial.finals = std::move(old.finals);
  trial.told = std::move(old.told);
  trial.rules = rules_;
  trial.time = old.time;
  trial.steps = old.steps;
  trial.steps_saved = old.steps_saved;
  LiveTrial& added = table_.add(std::move(trial));
  checkpoints_.start_from(added, old.start_from);
  return added;
}

void TrialRunner::adopt(LiveTrial& trial, const RestoredExperiment::Trial& old) {
  TrialRecord& record = trial.record;
  const auto adopted =
      backend_.adopt({record.job_id, record.sequence, record.attempts - 1, record.proposed.text,
                      trial.rules->resources, trial.start_from},
                     old.position);
  if (!adopted) {
    // This trial and the others may still run. Nothing is stopped, so that a later manager, for
    // which the cause may be gone, can take all of them over.
    detached_ = true;
    stop_experiment({ExperimentEnd::Kind::failed,
                     fmt::format("trial {} cannot be taken over: {}; no trial was stopped: attune "
                                 "resume goes on",
                                 record.job_id, adopted.error().message)});
    return;
  }
  if (*adopted == TrialBackend::Adoption::not_started) {
    --record.attempts;
    set_status(trial, TrialStatus::pending, "its start was cut short");
    if (old.asked && old.asked->kind == EndAsked::Kind::pause)
      decider_.on_pause_failed(record.job_id);
    return;
  }
  log_.info("trial={} is taken over", record.job_id);
  woken_ = true;
  if (!old.asked) {
    // The trial ran while there was no manager. Until the backend says how long (TrialPlace::ran),
    // only the time until its last result is known.
    if (options_.max_trial_seconds) {
      const double left = std::max(*options_.max_trial_seconds - old.time.ran, 1e-3);
      table_.set_deadline(trial, clock_.now() + left);
    }
    return;
  }
  trial.asked = old.asked;
  if (old.asked->kind == EndAsked::Kind::complete) {
    trial.finals.clear();  // its result is in the record
    trial.save_at_end =
        checkpoint_due(trial, metrics_of(record.last_metric, options_.objective().metric), true);
  }
  if (old.asked->kind == EndAsked::Kind::pause) {
    backend_.pause(record.job_id);
  } else {
    backend_.stop(record.job_id);
  }
}

// Keeps what the decider may name. Deletes what the earlier manager had yet to delete. Saves what
// it was saving when it ended: once for each trial, under a new id. The checkpoints under the old
// ids may be incomplete and are deleted.
void TrialRunner::save_anew(const RunnerState& state, bool known) {
  checkpoints_.delete_again(state);
  for (const std::string& id : state.held) {
    if (known) checkpoints_.hold(id);
  }
  for (const std::string& job_id : checkpoints_.discard_unfinished(state.saving)) {
    LiveTrial* trial = table_.find(job_id);
    const std::string id =
        trial != nullptr ? checkpoints_.save(*trial) : checkpoints_.save_of_ended(job_id);
    if (trial != nullptr && trial->record.status != TrialStatus::running) trial->pausing = id;
    const auto waits = [&](const std::string& other) {
      return trial_of_checkpoint(other) == job_id;
    };
    if (known && std::ranges::any_of(state.answers, waits)) checkpoints_.decider_waits_for(id);
  }
}

// The decider has lost its memory while trials run: tells it all results and all live trials.
void TrialRunner::tell_again() {
  proposals_.forget();
  checkpoints_.forget_answers();
  tells_again_ = !keep();    // options_.results() reads the store, which must have all results
  if (tells_again_) return;  // note() calls this function again after the next commit
  auto results = options_.results ? options_.results() : std::vector<ImportData::Record>();
  if (!results) {
    detached_ = true;
    stop_experiment({ExperimentEnd::Kind::failed, results.error().message});
    return;
  }
  if (!results->empty()) decider_.import(*results);
  std::vector<Decider::Resumed> live;
  for (const TrialStatus status :
       {TrialStatus::running, TrialStatus::pending, TrialStatus::paused}) {
    for (const auto& [sequence, trial] : table_.in(status)) {
      const TrialRecord& record = trial->record;
      live.push_back({record.job_id, record.proposed, status == TrialStatus::paused,
                      record.checkpoint, record.final_metric});
    }
  }
  readopt(live);
  judge_again();
}

// A decider without memory will not answer what another one was asked: running trials may wait for
// that.
void TrialRunner::judge_again() {
  for (const auto& [sequence, trial] : table_.in(TrialStatus::running))
    answer_when_judged(*trial, trial->steps.done() - trial->steps.first());
}

// Tells a decider without memory which trials have not ended, and their final results, if they
// count already.
void TrialRunner::readopt(const std::vector<Decider::Resumed>& trials) {
  if (trials.empty()) return;
  decider_.readopt(trials);
  for (const Decider::Resumed& each : trials) {
    if (!each.result.is_null()) decider_.on_final(each.job_id, final_text(each), each.result);
  }
}

}  // namespace attune
