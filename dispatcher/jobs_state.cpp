// Saving the table of jobs and going on from what was saved.
#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "dispatcher/jobs.h"

namespace attune {
namespace {

constexpr int kEnded = 1, kKilled = 2, kImported = 4, kPaused = 8, kAllFlags = 15;

}  // namespace

json Jobs::save() const {
  json names = json::array();
  std::vector<double> flags, counts, trials;
  for (const auto& [name, job] : jobs_) {
    names.push_back(name);
    flags.push_back((job.ended ? kEnded : 0) + (job.killed ? kKilled : 0) +
                    (job.imported ? kImported : 0) + (job.pause == Pause::paused ? kPaused : 0));
    counts.push_back(static_cast<double>(job.trials.size()));
    for (const TrialId trial : job.trials) trials.push_back(static_cast<double>(trial));
  }
  std::vector<double> aliases;  // in pairs
  for (const auto& [id, trial] : aliases_) {
    aliases.push_back(static_cast<double>(id));
    aliases.push_back(static_cast<double>(trial));
  }
  json state = {{"next", next_id_}, {"next_foreign", next_foreign_}};
  state["names"] = std::move(names);
  state["flags"] = save_numbers(flags);
  state["counts"] = save_numbers(counts);
  state["trials"] = save_numbers(trials);
  state["aliases"] = save_numbers(aliases);
  state["checkpoints"] = checkpoints_.save();
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
      std::ranges::all_of(flags, [](double flag) { return flag >= 0 && flag <= kAllFlags; });
  if (!possible) return fail("saved state: impossible numbers of jobs");
  std::size_t next = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].is_string()) return fail("saved state: the name of a job is a text");
    Entry& entry = *loaded.jobs_.try_emplace(names[i].get<std::string>()).first;
    const int flag = static_cast<int>(flags[i]);
    entry.second.ended = (flag & kEnded) != 0;
    entry.second.killed = (flag & kKilled) != 0;
    entry.second.imported = (flag & kImported) != 0;
    entry.second.pause = (flag & kPaused) != 0 ? Pause::paused : Pause::none;
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
  const auto aliases = TRY(numbers_at(state, "aliases"));
  if (aliases.size() % 2 != 0) return fail("saved state: half of an alias");
  for (std::size_t i = 0; i < aliases.size(); i += 2) {
    for (const double id : {aliases[i], aliases[i + 1]}) {
      if (!(id >= 0 && id == std::floor(id) && id < static_cast<double>(loaded.next_id_))) {
        return fail("saved state: an alias of a trial that was never given out");
      }
    }
    loaded.alias(static_cast<TrialId>(aliases[i]), static_cast<TrialId>(aliases[i + 1]));
  }
  TRY(loaded.checkpoints_.load(TRY(array_at(state, "checkpoints"))));
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
