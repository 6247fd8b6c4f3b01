#include "cluster/batch/batch_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace attune {
namespace {

// A job that the batch system has forgotten so often is not submitted again.
constexpr int kMostSubmissions = 5;

std::string what_happened(BatchCause cause) {
  switch (cause) {
    case BatchCause::none:
    case BatchCause::completed:
      return "has ended";
    case BatchCause::failed:
      return "has failed";
    case BatchCause::node_failed:
      return "lost its node";
    case BatchCause::preempted:
      return "was preempted by another job";
    case BatchCause::time_limit:
      return "reached its time limit";
    case BatchCause::out_of_memory:
      return "ran out of memory";
    case BatchCause::boot_failed:
      return "could not be started: its node did not boot";
    case BatchCause::cancelled:
      return "was cancelled";
    case BatchCause::deadline:
      return "reached its deadline";
    case BatchCause::revoked:
      return "was revoked";
  }
  return "has ended";
}

BatchEnd end_of(const BatchState& state) {
  BatchEnd end{state.id, what_happened(state.cause)};
  if (!state.reason.empty() && state.reason != "None")
    end.how += fmt::format(" ({})", state.reason);
  return end;
}

}  // namespace

std::string to_text(const BatchEnd& end) {
  return fmt::format("its job {}{}{}", end.id, end.id.empty() ? "" : " ", end.how);
}

BatchJobs::BatchJobs(std::unique_ptr<BatchSystem> system, BatchJobsOptions options,
                     Handlers handlers, Log log)
    : options_(std::move(options)),
      handlers_(std::move(handlers)),
      log_(std::move(log)),
      system_(std::move(system)) {}

// ---- which

void BatchJobs::want(BatchJob job, double now) {
  const std::string name = job.name;
  const auto [at, is_new] = jobs_.try_emplace(name);
  if (!is_new) return;
  at->second.job = std::move(job);
  at->second.next_try = now;
  orphans_.erase(name);
  if (std::isinf(next_list_)) next_list_ = now + options_.poll;
  submit_due(now);
}

void BatchJobs::watch(const std::string& name) {
  const auto [at, is_new] = jobs_.try_emplace(name);
  if (is_new || at->second.stage == Stage::leaving) at->second.stage = Stage::submitted;
  orphans_.erase(name);
  if (std::isinf(next_list_)) next_list_ = handlers_.now() + options_.poll;
}

bool BatchJobs::set_here(const std::string& name, bool here) {
  const auto found = jobs_.find(name);
  if (found == jobs_.end()) return false;
  found->second.was_here |= here;
  return std::exchange(found->second.here, here) && !here;
}

void BatchJobs::cancel(const std::string& name) {
  const auto found = jobs_.find(name);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  // While its submission is under way the answer must come first: answered() cancels it.
  if (job.stage == Stage::waiting && job.submissions == 0) {
    jobs_.erase(found);
  } else if (job.stage != Stage::submitting) {
    run_cancel({name});
  }
  if (jobs_.contains(name)) job.stage = Stage::leaving;
  handlers_.on_change();
}

void BatchJobs::let_go(const std::string& name) {
  const auto found = jobs_.find(name);
  if (found == jobs_.end()) return;
  found->second.stage = Stage::leaving;
  found->second.here = false;
}

void BatchJobs::run_cancel(std::vector<std::string> names) {
  ++under_way_;
  system_->cancel(std::move(names), [this](const Result<void>& done) {
    --under_way_;
    if (!done) log_.warning("cannot cancel jobs: {}", done.error().message);
    handlers_.on_change();
  });
}

std::vector<std::string> BatchJobs::wanted() const {
  std::vector<std::string> names;
  for (const auto& [name, job] : jobs_) {
    if (job.stage != Stage::leaving) names.push_back(name);
  }
  return names;
}

bool BatchJobs::pending(const std::string& name) const {
  const auto found = jobs_.find(name);
  if (found == jobs_.end() || found->second.here) return false;
  const Job& job = found->second;
  return job.running_since < 0 && (!job.state || job.state->phase == BatchPhase::pending);
}

// ---- submitting

void BatchJobs::submit_due(double now) {
  tried_ = now;
  std::size_t there = 0;
  for (const auto& [name, job] : jobs_) there += job.stage == Stage::waiting ? 0 : 1;
  for (auto& [name, job] : jobs_) {
    if (job.stage != Stage::waiting || job.next_try > now) continue;
    if (there++ >= options_.most) return;
    submit(name, job);
  }
}

void BatchJobs::submit(const std::string& name, Job& job) {
  job.stage = Stage::submitting;
  ++job.submissions;
  ++under_way_;
  system_->submit(*job.job, [this, name](const BatchSubmission& answer) {
    --under_way_;
    answered(name, answer);
    handlers_.on_change();
  });
}

void BatchJobs::answered(const std::string& name, const BatchSubmission& answer) {
  const auto found = jobs_.find(name);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  job.answered = ++clock_;
  job.absent_since = -1;
  if (job.stage == Stage::leaving) {
    // Cancels it also after a failure that passes: the job may exist, and only the answer be lost.
    if (answer || !answer.error().permanent) return run_cancel({name});
    jobs_.erase(found);
  } else if (answer) {
    job.stage = Stage::submitted;
    log_.info("job {} is submitted as {}{}", name, answer->id, answer->found ? ", again" : "");
    // It may have ended long ago; a list will tell.
    if (answer->found) look_now();
  } else if (answer.error().permanent) {
    const BatchRefusal& refusal = answer.error();
    log_.error("job {} is refused: {}", name, refusal.message);
    jobs_.erase(found);
    handlers_.on_refused(name, refusal);
  } else {
    job.stage = Stage::waiting;
    // A failed try does not count as a submission, but 0 would mean that the job cannot exist, see
    // cancel().
    job.submissions = std::max(1, job.submissions - 1);
    job.pause = std::clamp(2 * job.pause, options_.first_pause, options_.longest_pause);
    job.next_try = handlers_.now() + job.pause;
    log_.warning("job {} is submitted again in {} s: {}", name, job.pause, answer.error().message);
    handlers_.on_trouble(name, answer.error().message);
  }
}

// ---- looking

void BatchJobs::look_now() {
  // A list that is under way may be older than what the caller knows, so another one follows it.
  again_ = listing_;
  if (listing_) return;
  listing_ = true;
  next_list_ = std::numeric_limits<double>::infinity();
  system_->list([this, begun = ++clock_](const Result<BatchStates>& states) {
    listing_ = false;
    heard(states, begun);
    if (std::exchange(again_, false)) {
      look_now();
    } else if (!listing_ && (!jobs_.empty() || !orphans_.empty() || !listed_)) {
      next_list_ = handlers_.now() + options_.poll;
    }
    handlers_.on_change();
  });
}

// A list counts only for jobs whose last answer came before the list was begun: an older one may
// lack the job.
void BatchJobs::heard(const Result<BatchStates>& states, std::uint64_t begun) {
  if (!states) {
    if (std::exchange(trouble_, states.error().message) != trouble_)
      log_.warning("what became of the jobs is not known: {}", trouble_);
    return;
  }
  trouble_.clear();
  listed_ = true;
  const double now = handlers_.now();
  std::vector<std::string> names;
  for (const auto& [name, job] : jobs_) {
    const bool known = job.stage == Stage::submitted || job.stage == Stage::leaving;
    if (known && job.answered < begun) names.push_back(name);
  }
  for (const std::string& name : names) {
    if (!jobs_.contains(name)) continue;  // a handler has removed it
    const auto state = states->find(name);
    state == states->end() ? absent(name, now) : found(name, state->second, now);
  }
  look_for_orphans(*states, now);
  submit_due(now);  // there may be room now
}

void BatchJobs::found(const std::string& name, const BatchState& state, double now) {
  Job& job = jobs_.at(name);
  job.state = state;
  job.absent_since = -1;
  if (state.phase == BatchPhase::ended) {
    // The batch system has given the job up, but its worker is connected: the worker knows better.
    if (job.here) return;
    const bool leaving = job.stage == Stage::leaving;
    jobs_.erase(name);
    if (!leaving) handlers_.on_over(name, end_of(state));
    return;
  }
  const bool runs = state.phase == BatchPhase::running || state.phase == BatchPhase::suspended;
  if (!runs) job.running_since = -1;  // it was requeued
  if (runs && job.running_since < 0) job.running_since = now;
  if (job.stage == Stage::leaving) return see_off(name, job, now);
  handlers_.on_seen(name, state, runs ? now - job.running_since : 0);
}

// The job was let go or cancelled, and should end. If it was requeued, cancels it, or it would
// begin once more. If it does not end in time, cancels it, too.
void BatchJobs::see_off(const std::string& name, Job& job, double now) {
  if (job.state->phase == BatchPhase::pending) return run_cancel({name});
  if (job.here || job.leaving_since < 0) job.leaving_since = now;
  if (now - job.leaving_since < options_.orphan_after) return;
  log_.warning("job {} has nothing left to do and does not end, and is cancelled", name);
  job.leaving_since = now;
  run_cancel({name});
}

void BatchJobs::absent(const std::string& name, double now) {
  Job& job = jobs_.at(name);
  if (job.stage == Stage::leaving) {
    if (!job.here) jobs_.erase(name);
    return;
  }
  if (job.here) return;
  // As far as anybody knows the job has not run: a controller that died has forgotten it.
  if (job.job && job.running_since < 0 && !job.was_here && job.submissions < kMostSubmissions) {
    log_.warning("job {} was forgotten by the batch system, and is submitted again", name);
    job.stage = Stage::waiting;
    job.state.reset();
    job.next_try = now;
    return;
  }
  if (job.absent_since < 0) job.absent_since = now;
  if (now - job.absent_since < options_.absent_after) return;
  jobs_.erase(name);
  handlers_.on_over(name, {"", fmt::format("is not known to the batch system any more, for {} s",
                                           options_.absent_after)});
}

void BatchJobs::look_for_orphans(const BatchStates& states, double now) {
  std::map<std::string, double> orphans;
  std::vector<std::string> cancelled;
  for (const auto& [name, state] : states) {
    if (!name.starts_with(options_.prefix) || jobs_.contains(name) ||
        state.phase == BatchPhase::ended || handlers_.on_unknown(name, state))
      continue;
    const auto known = orphans_.find(name);
    const double since = known == orphans_.end() ? now : known->second;
    orphans[name] = since;
    if (now - since < options_.orphan_after) continue;
    log_.warning("job {} ({}) of this experiment is known to nobody, and is cancelled", name,
                 state.id);
    cancelled.push_back(name);
  }
  orphans_ = std::move(orphans);
  if (!cancelled.empty()) run_cancel(std::move(cancelled));
}

// ---- time

void BatchJobs::tick(double now) {
  submit_due(now);
  if (next_list_ <= now && !listing_) look_now();
}

std::optional<double> BatchJobs::next_time() const {
  double next = listing_ ? std::numeric_limits<double>::infinity() : next_list_;
  for (const auto& [name, job] : jobs_) {
    // A job that is due but not submitted waits for room (`most`), not for a time.
    if (job.stage == Stage::waiting && job.next_try > tried_) next = std::min(next, job.next_try);
  }
  return std::isfinite(next) ? std::optional(next) : std::nullopt;
}

}  // namespace attune
