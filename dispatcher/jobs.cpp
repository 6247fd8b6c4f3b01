#include "dispatcher/jobs.h"

#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"

namespace attune {
namespace {

constexpr int kEnded = 1, kKilled = 2, kImported = 4;

}  // namespace

TrialId Jobs::take_ids(std::int64_t count) {
  const TrialId first = next_id_;
  next_id_ += std::max<std::int64_t>(count, 0);
  return first;
}

void Jobs::reserve_through(TrialId id) { next_id_ = std::max(next_id_, id + 1); }

bool Jobs::is_ours(const ParameterId& id) const {
  const auto* number = std::get_if<std::int64_t>(&id);
  return number && *number >= 0 && *number < next_id_;
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
  const bool ours = is_ours(parameter_id);
  if (name.empty()) {
    return {.trial = ours ? std::get<std::int64_t>(parameter_id) : next_foreign_--};
  }
  Entry& entry = *jobs_.try_emplace(name).first;
  Job& job = entry.second;
  if (!ours && !job.foreign) job.foreign = next_foreign_--;
  Bound bound{.trial = ours ? std::get<std::int64_t>(parameter_id) : *job.foreign,
              .ended = job.ended};
  if (job.ended) return bound;
  const bool known = std::ranges::find(job.trials, bound.trial) != job.trials.end();
  if (known && job_of(bound.trial) == &entry) return bound;
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
  Entry& entry = *jobs_.try_emplace(name).first;
  Job& job = entry.second;
  if (job.ended) return std::nullopt;
  job.ended = true;
  Ended ended;
  if (is_ours(parameter_id) && !job_of(std::get<std::int64_t>(parameter_id))) {
    const TrialId named = std::get<std::int64_t>(parameter_id);
    if (job.trials.empty()) {
      bind(entry, named);
      job.guess = event;
    } else if (!misnamed_.empty()) {
      ended.misnamed = {named, misnamed_.back()};
      misnamed_.pop_back();
    }
  }
  ended.trials = job.trials;
  for (const TrialId trial : job.trials) waiting_.erase(trial);
  return ended;
}

Jobs::Import Jobs::import(const std::string& name) {
  Job& job = jobs_[name];
  const bool known = std::exchange(job.imported, true);
  job.ended = true;
  const bool ran = !job.trials.empty() && job.trials.front() >= 0;
  return {known, ran ? std::optional(job.trials.front()) : std::nullopt};
}

std::optional<std::string> Jobs::pass_gate(const Decision& decision) {
  Entry* entry = job_of(decision.trial);
  if (!entry) {
    waiting_.insert_or_assign(decision.trial, decision);
    return std::nullopt;
  }
  Job& job = entry->second;
  if (job.ended || job.killed) return std::nullopt;
  job.killed = true;
  return entry->first;
}

std::optional<Decision> Jobs::released(TrialId trial) {
  if (waiting_.empty()) return std::nullopt;
  const auto found = waiting_.find(trial);
  if (found == waiting_.end() || !job_of(trial)) return std::nullopt;
  Decision decision = std::move(found->second);
  waiting_.erase(found);
  return decision;
}

json Jobs::save() const {
  json names = json::array();
  std::vector<double> flags, counts, trials;
  for (const auto& [name, job] : jobs_) {
    names.push_back(name);
    flags.push_back((job.ended ? kEnded : 0) + (job.killed ? kKilled : 0) +
                    (job.imported ? kImported : 0));
    counts.push_back(static_cast<double>(job.trials.size()));
    for (const TrialId trial : job.trials) trials.push_back(static_cast<double>(trial));
  }
  json state = {{"next", next_id_}, {"next_foreign", next_foreign_}};
  state["names"] = std::move(names);
  state["flags"] = save_numbers(flags);
  state["counts"] = save_numbers(counts);
  state["trials"] = save_numbers(trials);
  return state;
}

Result<void> Jobs::load(const json& state) {
  const json names = TRY(array_at(state, "names"));
  const auto flags = TRY(numbers_at(state, "flags"));
  const auto counts = TRY(numbers_at(state, "counts"));
  const auto trials = TRY(numbers_at(state, "trials"));
  Jobs loaded;
  loaded.next_id_ = TRY(integer_at(state, "next"));
  loaded.next_foreign_ = TRY(integer_at(state, "next_foreign"));
  if (flags.size() != names.size() || counts.size() != names.size()) {
    return fail("saved state: columns of different length");
  }
  const bool possible =
      loaded.next_id_ >= 0 && loaded.next_id_ <= kLargestId + 1 &&
      loaded.next_foreign_ < kImportedTrial && loaded.next_foreign_ >= -kLargestId &&
      std::ranges::all_of(flags, [](double flag) { return flag >= 0 && flag < 8; });
  if (!possible) return fail("saved state: impossible numbers of jobs");
  std::size_t next = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].is_string()) return fail("saved state: the name of a job is a text");
    Entry& entry = *loaded.jobs_.try_emplace(names[i].get<std::string>()).first;
    const int flag = static_cast<int>(flags[i]);
    entry.second.ended = (flag & kEnded) != 0;
    entry.second.killed = (flag & kKilled) != 0;
    entry.second.imported = (flag & kImported) != 0;
    if (!(counts[i] >= 0 && counts[i] <= static_cast<double>(trials.size()))) {
      return fail("saved state: an impossible number of trials of a job");
    }
    for (auto left = static_cast<std::size_t>(counts[i]); left > 0; --left) {
      if (next == trials.size()) return fail("saved state: too few trials of jobs");
      const double trial = trials[next++];
      const bool given_out =
          trial == std::floor(trial) && trial < static_cast<double>(loaded.next_id_) &&
          trial > static_cast<double>(loaded.next_foreign_) && trial != kImportedTrial;
      if (!given_out) return fail("saved state: a job of a trial that was never given out");
      if (entry.second.ended) {
        loaded.bind(entry, static_cast<TrialId>(trial));
      } else {
        entry.second.trials.push_back(static_cast<TrialId>(trial));
      }
    }
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
