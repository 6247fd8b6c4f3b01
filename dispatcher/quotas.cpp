#include "dispatcher/quotas.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/saved_numbers.h"

namespace attune {
namespace {

constexpr int kOffered = 1, kHasJob = 2, kAsked = 4;

double to_double(std::int64_t number) { return static_cast<double>(number); }

Result<std::vector<double>> rows_at(const json& state, const char* key, std::size_t width) {
  auto all = TRY(numbers_at(state, key));
  if (all.size() % width != 0 || !std::ranges::all_of(all, is_whole)) {
    return fail(std::string("saved state: \"") + key + "\" are no rows of whole numbers");
  }
  return all;
}

}  // namespace

// ---- trials

std::int64_t Quotas::room_for_trials(std::int64_t count) const {
  const std::size_t used = std::min(outstanding_.size(), limits_.outstanding);
  const std::size_t most = std::min(limits_.request, limits_.outstanding - used);
  return std::clamp<std::int64_t>(count, 0, static_cast<std::int64_t>(most));
}

void Quotas::asked(TrialId first, std::int64_t count) {
  for (TrialId id = first; id < first + count; ++id) outstanding_[id].request = first;
}

void Quotas::offered(TrialId asked, TrialId trial) {
  if (asked != trial) {
    outstanding_.erase(asked);
    // If it continues in another job, that one costs nothing, too.
    outstanding_[trial].has_job = false;
  }
  outstanding_[trial].offered = true;
}

void Quotas::answered_job(TrialId asked) {
  if (const auto found = outstanding_.find(asked); found != outstanding_.end()) {
    found->second.offered = true;
  }
}

void Quotas::revived(TrialId trial) { outstanding_[trial].offered = true; }

// The ids of a request are consecutive, and few others lie between them, so this can stop at the
// first id of another request.
void Quotas::no_more(TrialId request) {
  for (auto at = outstanding_.lower_bound(request); at != outstanding_.end();) {
    if (at->second.request && *at->second.request != request) break;
    const bool dead = at->second.request && !at->second.offered;
    at = dead ? outstanding_.erase(at) : std::next(at);
  }
}

bool Quotas::add(TrialId trial) {
  if (!outstanding_.contains(trial) && outstanding_.size() >= limits_.outstanding) return false;
  revived(trial);
  return true;
}

void Quotas::ended(TrialId trial) {
  outstanding_.erase(trial);
  if (const auto kept = kept_.find(trial); kept != kept_.end()) {
    kept_bytes_ -= kept->second.bytes;
    kept_.erase(kept);
  }
}

// ---- what else is remembered

Quotas::Verdict Quotas::take_report(TrialId trial, std::size_t bytes) {
  Kept& kept = kept_[trial];
  if (kept.count < limits_.history && kept_bytes_ + bytes <= limits_.histories) {
    ++kept.count;
    kept.bytes += bytes;
    kept_bytes_ += bytes;
    return Verdict::take;
  }
  return std::exchange(kept.refused, true) ? Verdict::refuse : Verdict::refuse_first;
}

bool Quotas::take_job(std::optional<TrialId> trial) {
  if (trial) {
    const auto found = outstanding_.find(*trial);
    if (found != outstanding_.end() && !std::exchange(found->second.has_job, true)) return true;
  }
  if (jobs_ >= limits_.jobs) return false;
  ++jobs_;
  return true;
}

bool Quotas::take_import() {
  if (imports_ >= limits_.imports) return false;
  ++imports_;
  return true;
}

// ---- the exact state

void Quotas::restart() {
  outstanding_.clear();
  kept_.clear();
  kept_bytes_ = 0;
}

json Quotas::save() const {
  std::vector<double> trials, kept;
  for (const auto& [id, trial] : outstanding_) {
    const int flags = (trial.offered ? kOffered : 0) + (trial.has_job ? kHasJob : 0) +
                      (trial.request ? kAsked : 0);
    trials.insert(trials.end(),
                  {to_double(id), to_double(trial.request.value_or(0)), to_double(flags)});
  }
  for (const auto& [id, of] : kept_) {
    kept.insert(kept.end(), {to_double(id), static_cast<double>(of.count),
                             static_cast<double>(of.bytes), of.refused ? 1.0 : 0.0});
  }
  return {{"outstanding", save_numbers(trials)},
          {"kept", save_numbers(kept)},
          {"jobs", jobs_},
          {"imports", imports_}};
}

Result<void> Quotas::load(const json& state) {
  const auto trials = TRY(rows_at(state, "outstanding", 3));
  const auto kept = TRY(rows_at(state, "kept", 4));
  const std::int64_t jobs = TRY(integer_at(state, "jobs"));
  const std::int64_t imports = TRY(integer_at(state, "imports"));
  if (jobs < 0 || imports < 0) return fail("saved state: impossible numbers of jobs or imports");
  Quotas loaded(limits_);
  for (std::size_t i = 0; i < trials.size(); i += 3) {
    const int flags = static_cast<int>(std::clamp(trials[i + 2], 0.0, 7.0));
    const bool asked = (flags & kAsked) != 0;
    loaded.outstanding_[static_cast<TrialId>(trials[i])] = {
        .request = asked ? std::optional(static_cast<TrialId>(trials[i + 1])) : std::nullopt,
        .offered = (flags & kOffered) != 0,
        .has_job = (flags & kHasJob) != 0};
  }
  for (std::size_t i = 0; i < kept.size(); i += 4) {
    if (kept[i + 1] < 0 || kept[i + 2] < 0)
      return fail("saved state: a negative size of a history");
    Kept& one = loaded.kept_[static_cast<TrialId>(kept[i])];
    one = {.count = static_cast<std::size_t>(kept[i + 1]),
           .bytes = static_cast<std::size_t>(kept[i + 2]),
           .refused = kept[i + 3] != 0};
    loaded.kept_bytes_ += one.bytes;
  }
  loaded.jobs_ = static_cast<std::size_t>(jobs);
  loaded.imports_ = static_cast<std::size_t>(imports);
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
