#include "dispatcher/jobs.h"

#include <algorithm>
#include <utility>

namespace attune {

TrialId Jobs::take_ids(std::int64_t count) {
  const TrialId first = next_id_;
  next_id_ += std::max<std::int64_t>(count, 0);
  return first;
}

void Jobs::reserve_through(TrialId id) { next_id_ = std::max(next_id_, id + 1); }

void Jobs::bind(const std::string& name, Job& job, TrialId trial) {
  if (std::ranges::find(job.trials, trial) != job.trials.end()) return;
  job.trials.push_back(trial);
  job_of_[trial] = name;
}

TrialId Jobs::bind_metric(const std::string& name, const ParameterId& parameter_id) {
  const auto* number = std::get_if<std::int64_t>(&parameter_id);
  const bool ours = number && *number >= 0 && *number < next_id_;
  if (name.empty()) return ours ? *number : next_foreign_--;
  Job& job = jobs_[name];
  if (!ours && !job.foreign) job.foreign = next_foreign_--;
  const TrialId trial = ours ? *number : *job.foreign;
  if (!job.ended) bind(name, job, trial);
  return trial;
}

std::optional<std::vector<TrialId>> Jobs::end(const std::string& name,
                                              const ParameterId& parameter_id) {
  Job& job = jobs_[name];
  if (job.ended) return std::nullopt;
  if (job.trials.empty()) {
    const auto* number = std::get_if<std::int64_t>(&parameter_id);
    const bool ours = number && *number >= 0 && *number < next_id_;
    if (ours && !job_of_.contains(*number)) bind(name, job, *number);
  }
  job.ended = true;
  for (const TrialId trial : job.trials) waiting_.erase(trial);
  return std::exchange(job.trials, {});
}

std::optional<std::string> Jobs::pass_gate(const Decision& decision) {
  const auto found = job_of_.find(decision.trial);
  if (found == job_of_.end()) {
    waiting_.insert_or_assign(decision.trial, decision);
    return std::nullopt;
  }
  Job& job = jobs_[found->second];
  if (job.ended || job.killed) return std::nullopt;
  job.killed = true;
  return found->second;
}

std::optional<Decision> Jobs::released(TrialId trial) {
  if (waiting_.empty()) return std::nullopt;
  const auto found = waiting_.find(trial);
  if (found == waiting_.end() || !job_of_.contains(trial)) return std::nullopt;
  Decision decision = std::move(found->second);
  waiting_.erase(found);
  return decision;
}

}  // namespace attune
