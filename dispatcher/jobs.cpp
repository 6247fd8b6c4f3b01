#include "dispatcher/jobs.h"

#include <algorithm>
#include <utility>

namespace attune {

TrialId Jobs::take_ids(std::int64_t count) {
  const TrialId first = next_id_;
  next_id_ += std::max<std::int64_t>(count, 0);
  return first;
}

bool Jobs::reserve_through(TrialId id) {
  return id + 1 > std::exchange(next_id_, std::max(next_id_, id + 1));
}

TrialId Jobs::trial_of(TrialId parameter_id) const {
  const auto alias = aliases_.find(parameter_id);
  return alias == aliases_.end() ? parameter_id : alias->second;
}

std::optional<TrialId> Jobs::ours(const ParameterId& id) const {
  const auto* number = std::get_if<std::int64_t>(&id);
  if (!number || *number < 0 || *number >= next_id_) return std::nullopt;
  return trial_of(*number);
}

Jobs::Entry& Jobs::entry_of(const std::string& name) {
  const auto [at, is_new] = jobs_.try_emplace(name);
  if (is_new) in_order_.push_back(&*at);
  return *at;
}

Jobs::Entry* Jobs::job_of(TrialId trial) const {
  const auto found = job_of_.find(trial);
  return found == job_of_.end() ? nullptr : found->second;
}

void Jobs::bind(Entry& job, TrialId trial) {
  auto& trials = job.second.trials;
  if (std::ranges::find(trials, trial) == trials.end()) trials.push_back(trial);
  job_of_[trial] = &job;
}

Jobs::Bound Jobs::bind_metric(const std::string& name, const ParameterId& parameter_id) {
  const auto own = ours(parameter_id);
  if (name.empty()) return {.trial = own ? *own : next_foreign_--};
  Entry& entry = entry_of(name);
  Job& job = entry.second;
  if (!own && !job.foreign) job.foreign = next_foreign_--;
  Bound bound{.trial = own ? *own : *job.foreign, .ended = job.ended};
  if (job.ended) return bound;
  const bool known = std::ranges::find(job.trials, bound.trial) != job.trials.end();
  if (known && job_of(bound.trial) == &entry) return bound;
  // Only a TrialEnd has bound this trial to the former job, and this metric shows that it meant
  // another trial. So this trial runs, and the end is owed to the other one (Ended::misnamed).
  if (Entry* former = job_of(bound.trial); former && former->second.guess) {
    bound.revived = true;
    misnamed_.push_back(*former->second.guess);
    former->second.guess.reset();
    former->second.trials.clear();
  }
  bind(entry, bound.trial);
  return bound;
}

bool Jobs::has_ended(const std::string& name) const {
  const auto found = jobs_.find(name);
  return found != jobs_.end() && found->second.ended;
}

std::optional<Jobs::Ended> Jobs::end(const std::string& name, const ParameterId& parameter_id,
                                     Event event) {
  Entry& entry = entry_of(name);
  Job& job = entry.second;
  if (job.ended) return std::nullopt;
  job.ended = true;
  job.saving = false;
  Ended ended;
  // A job without a metric is taken at TrialEnd's word, until a metric shows that the word was
  // wrong.
  if (const auto named = ours(parameter_id); named && !job_of(*named)) {
    if (job.trials.empty()) {
      bind(entry, *named);
      job.guess = event;
      ended.unheard = true;
    } else if (!misnamed_.empty()) {
      ended.misnamed = {*named, misnamed_.back()};
      misnamed_.pop_back();
    }
  }
  // A kill in place of a pause ends with EARLY_STOPPED. With any other event the job ended for
  // another reason, and its end is a real one.
  ended.paused = job.pause == Pause::asked_by_kill && event == Event::early_stopped;
  job.pause = ended.paused ? Pause::paused : Pause::none;
  ended.trials = job.trials;
  for (const TrialId trial : job.trials) waiting_.erase(trial);
  return ended;
}

Jobs::Import Jobs::import(const std::string& name) {
  Job& job = entry_of(name).second;
  const bool known = std::exchange(job.imported, true);
  job.ended = true;
  job.pause = Pause::none;
  const bool ran = !job.trials.empty() && job.trials.front() >= 0;
  return {known, ran ? std::optional(job.trials.front()) : std::nullopt};
}

std::optional<std::string> Jobs::pass_gate(const Decision& decision, bool by_kill) {
  Entry* entry = job_of(decision.trial);
  if (!entry) {
    auto& waiting = waiting_[decision.trial];
    // A stop replaces all decisions that wait, and needs none behind it. Equal decisions wait once.
    std::erase_if(waiting, [&](const Decision& earlier) {
      return decision.action == Action::stop || earlier.action == decision.action;
    });
    const bool vain = !waiting.empty() && waiting.front().action == Action::stop;
    if (!vain) waiting.push_back(decision);
    return std::nullopt;
  }
  Job& job = entry->second;
  if (decision.action == Action::stop && job.pause == Pause::asked_by_kill) {
    job.pause = Pause::none;  // the stop replaces the pause: the job's end is a real end
  }
  if (job.ended || job.killed) return std::nullopt;
  if (decision.action == Action::stop) {
    job.killed = true;
    return entry->first;
  }
  if (job.pause != Pause::none) return std::nullopt;
  if (decision.action == Action::pause) {
    job.pause = by_kill ? Pause::asked_by_kill : Pause::asked;
    job.killed = by_kill;
  } else if (std::exchange(job.saving, true)) {
    return std::nullopt;
  }
  return entry->first;
}

bool Jobs::stop_decided(TrialId trial) const {
  if (const Entry* entry = job_of(trial)) {
    const Job& job = entry->second;
    const bool for_pause =
        job.pause == Pause::asked_by_kill || (job.ended && job.pause == Pause::paused);
    return job.killed && !for_pause;
  }
  const auto waiting = waiting_.find(trial);
  return waiting != waiting_.end() && std::ranges::find(waiting->second, Action::stop,
                                                        &Decision::action) != waiting->second.end();
}

std::vector<Decision> Jobs::released(TrialId trial) {
  if (waiting_.empty() || !job_of(trial)) return {};
  auto node = waiting_.extract(trial);
  return node ? std::move(node.mapped()) : std::vector<Decision>();
}

bool Jobs::pause_asked(const std::string& name) const {
  const auto found = jobs_.find(name);
  return found != jobs_.end() && found->second.pause == Pause::asked;
}

std::optional<std::vector<TrialId>> Jobs::paused(const std::string& name,
                                                 const ParameterId& parameter_id) {
  Entry& entry = entry_of(name);
  Job& job = entry.second;
  if (job.ended) return std::nullopt;
  // PAUSED may be the first message about this job: then it says which trial the job runs.
  if (const auto named = ours(parameter_id); job.trials.empty() && named && !job_of(*named)) {
    bind(entry, *named);
  }
  job.pause = Pause::paused;
  job.saving = false;
  return job.trials;
}

std::vector<TrialId> Jobs::pause_failed(const std::string& name) {
  const auto found = jobs_.find(name);
  if (found == jobs_.end() || found->second.pause != Pause::asked) return {};
  found->second.pause = Pause::none;
  return found->second.trials;
}

Jobs::Resume Jobs::resume(TrialId trial) {
  Entry* entry = job_of(trial);
  if (!entry) return {.possible = true, .job = {}};  // nothing was heard of its job since a restart
  Job& job = entry->second;
  if (job.pause != Pause::paused || (job.killed && !job.ended)) return {};
  if (job.ended) {
    // Its job ended in place of a pause. It has no job until a metric comes from the new one.
    give_up(trial);
    std::erase(job.trials, trial);
    job_of_.erase(trial);
    return {.possible = true, .job = {}};
  }
  job.pause = Pause::none;
  return {.possible = true, .job = entry->first};
}

bool Jobs::give_up(TrialId trial) {
  Entry* entry = job_of(trial);
  if (!entry || !entry->second.ended || entry->second.pause != Pause::paused) return false;
  entry->second.pause = Pause::none;
  return true;
}

std::optional<TrialId> Jobs::saved(const std::string& name) {
  const auto found = jobs_.find(name);
  if (found == jobs_.end() || found->second.trials.empty()) return std::nullopt;
  found->second.saving = false;
  return found->second.trials.front();
}

Jobs::Saving Jobs::saving(TrialId trial, bool of_stopped) const {
  const Entry* entry = job_of(trial);
  if (!entry || entry->second.ended) return Saving::no;
  const Job& job = entry->second;
  if (job.killed) return job.saving && of_stopped ? Saving::under_way : Saving::no;
  if (job.saving || job.pause == Pause::asked) return Saving::under_way;
  return job.pause == Pause::none ? Saving::possible : Saving::no;
}

TrialId Jobs::adopt(const std::string& name, TrialId parameter_id, bool paused) {
  Entry& entry = entry_of(name);
  Job& job = entry.second;
  // The saved table decides which trial the job runs: the record of an alias may have been lost
  // with the last second of the journal.
  const TrialId named = trial_of(parameter_id);
  const bool other = !job.trials.empty() && job.trials.front() >= 0 &&
                     std::ranges::find(job.trials, named) == job.trials.end();
  const TrialId trial = other ? job.trials.front() : named;
  reserve_through(parameter_id);
  if (trial != parameter_id) alias(parameter_id, trial);
  job.ended = job.killed = job.saving = false;
  job.guess.reset();
  job.pause = paused ? Pause::paused : Pause::none;
  bind(entry, trial);
  return trial;
}

void Jobs::restart() {
  for (Entry* const entry : in_order_) {
    Job& job = entry->second;
    job.saving = false;
    job.guess.reset();
    if (job.pause != Pause::paused) job.pause = Pause::none;
    if (job.ended) continue;
    for (const TrialId trial : job.trials) {
      if (job_of(trial) == entry) job_of_.erase(trial);
    }
  }
  waiting_.clear();
  misnamed_.clear();
  checkpoints_.restart();
}

}  // namespace attune
