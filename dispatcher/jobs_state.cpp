// Saving the table of jobs, column by column: 10^5 of them are a handful of packed texts.
#include <cmath>
#include <utility>

#include "base/saved_numbers.h"
#include "dispatcher/jobs.h"
#include "dispatcher/messages_json.h"

namespace attune {
namespace {

// One number describes a job: four flags, its Pause in two bits, and then its guess (0: none).
constexpr int kEnded = 1, kKilled = 2, kImported = 4, kSaving = 8, kPauseUnit = 16, kGuessUnit = 64;
constexpr int kEvents = static_cast<int>(TrialEnd::Event::unknown) + 1;

constexpr double kMostId = 0x1p53;  // as doubles hold them

}  // namespace

json Jobs::save() const {
  json names = json::array();
  std::vector<double> flags, counts, trials, unbound, foreign;
  for (const Entry* entry : in_order_) {
    const auto& [name, job] = *entry;
    names.push_back(name);
    flags.push_back((job.ended ? kEnded : 0) + (job.killed ? kKilled : 0) +
                    (job.imported ? kImported : 0) + (job.saving ? kSaving : 0) +
                    kPauseUnit * static_cast<int>(job.pause) +
                    kGuessUnit * (job.guess ? static_cast<int>(*job.guess) + 1 : 0));
    counts.push_back(static_cast<double>(job.trials.size()));
    for (const TrialId trial : job.trials) {
      if (job_of(trial) != entry) unbound.push_back(static_cast<double>(trials.size()));
      trials.push_back(static_cast<double>(trial));
    }
    if (job.foreign) {
      foreign.push_back(static_cast<double>(names.size() - 1));
      foreign.push_back(static_cast<double>(*job.foreign));
    }
  }
  std::vector<double> aliases;
  for (const auto& [id, trial] : aliases_) {
    aliases.push_back(static_cast<double>(id));
    aliases.push_back(static_cast<double>(trial));
  }
  std::vector<double> misnamed;
  for (const Event event : misnamed_) misnamed.push_back(static_cast<double>(event));
  json waiting = json::array();
  for (const auto& [trial, decisions] : waiting_) {
    for (const Decision& decision : decisions) waiting.push_back(save_decision(decision));
  }
  json state = {{"next", next_id_}, {"next_foreign", next_foreign_}};
  state["names"] = std::move(names);
  state["flags"] = save_numbers(flags);
  state["counts"] = save_numbers(counts);
  state["trials"] = save_numbers(trials);
  state["unbound"] = save_numbers(unbound);  // places in "trials": bound to another job since
  state["foreign"] = save_numbers(foreign);  // pairs: the number of a job, its id
  state["aliases"] = save_numbers(aliases);  // pairs
  state["misnamed"] = save_numbers(misnamed);
  state["waiting"] = std::move(waiting);
  state["checkpoints"] = checkpoints_.save();
  return state;
}

Result<void> Jobs::load_job(Entry& entry, double flags) {
  if (!is_index(flags, kGuessUnit * (kEvents + 1))) {
    return fail("saved state: impossible flags of a job");
  }
  const int flag = static_cast<int>(flags);
  Job& job = entry.second;
  job.ended = (flag & kEnded) != 0;
  job.killed = (flag & kKilled) != 0;
  job.imported = (flag & kImported) != 0;
  job.saving = (flag & kSaving) != 0;
  job.pause = static_cast<Pause>(flag / kPauseUnit % (kGuessUnit / kPauseUnit));
  if (const int guess = flag / kGuessUnit; guess > 0) job.guess = static_cast<Event>(guess - 1);
  return {};
}

// "counts", "trials", "unbound" and "foreign", once the jobs are known.
Result<void> Jobs::load_trials(const json& state) {
  const auto counts = TRY(numbers_at(state, "counts"));
  const auto trials = TRY(numbers_at(state, "trials"));
  const auto unbound = TRY(numbers_at(state, "unbound"));
  const auto foreign = TRY(numbers_at(state, "foreign"));
  const auto first_id = static_cast<double>(next_id_);
  const auto last_foreign = static_cast<double>(next_foreign_);
  const auto is_foreign = [&](double id) {
    return is_whole(id) && id < kImportedTrial && id > last_foreign;
  };
  if (counts.size() != in_order_.size()) return fail("saved state: columns of different length");
  std::size_t next = 0;
  auto skipped = unbound.begin();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Entry& entry = *in_order_[i];
    Job& job = entry.second;
    if (!is_index(counts[i], static_cast<double>(trials.size() - next) + 1)) {
      return fail("saved state: too few trials of jobs");
    }
    if (job.guess && (counts[i] != 1 || !job.ended)) {
      return fail("saved state: the end of a job was guessed, but not of one trial");
    }
    for (const std::size_t end = next + static_cast<std::size_t>(counts[i]); next < end; ++next) {
      if (!is_index(trials[next], first_id) && !is_foreign(trials[next])) {
        return fail("saved state: a job of a trial that was never given out");
      }
      const auto trial = static_cast<TrialId>(trials[next]);
      job.trials.push_back(trial);
      if (skipped != unbound.end() && *skipped == static_cast<double>(next)) {
        ++skipped;
      } else if (!job_of_.emplace(trial, &entry).second) {
        return fail("saved state: a trial is bound to two jobs");
      }
    }
  }
  if (next != trials.size() || skipped != unbound.end()) {
    return fail("saved state: trials without a job");
  }
  if (foreign.size() % 2 != 0) return fail("saved state: half of a pair in \"foreign\"");
  for (std::size_t i = 0; i < foreign.size(); i += 2) {
    if (!is_index(foreign[i], static_cast<double>(in_order_.size())) ||
        !is_foreign(foreign[i + 1])) {
      return fail("saved state: an impossible foreign trial");
    }
    in_order_[static_cast<std::size_t>(foreign[i])]->second.foreign =
        static_cast<TrialId>(foreign[i + 1]);
  }
  return {};
}

Result<void> Jobs::load_waiting(const json& state) {
  for (const double event : TRY(numbers_at(state, "misnamed"))) {
    if (!is_index(event, kEvents)) return fail("saved state: an impossible end");
    misnamed_.push_back(static_cast<Event>(event));
  }
  for (const json& one : TRY(array_at(state, "waiting"))) {
    Decision decision = TRY(load_decision(one));
    waiting_[decision.trial].push_back(std::move(decision));
  }
  return {};
}

Result<void> Jobs::load(const json& state) {
  Jobs loaded;
  loaded.next_id_ = TRY(integer_at(state, "next"));
  loaded.next_foreign_ = TRY(integer_at(state, "next_foreign"));
  const bool possible = is_index(static_cast<double>(loaded.next_id_), kMostId) &&
                        loaded.next_foreign_ < kImportedTrial &&
                        is_index(-static_cast<double>(loaded.next_foreign_), kMostId);
  if (!possible) return fail("saved state: impossible numbers of jobs");
  const json names = TRY(array_at(state, "names"));
  const auto flags = TRY(numbers_at(state, "flags"));
  if (flags.size() != names.size()) return fail("saved state: columns of different length");
  loaded.jobs_.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].is_string()) return fail("saved state: the name of a job is a text");
    Entry& entry = loaded.entry_of(names[i].get_ref<const std::string&>());
    if (loaded.in_order_.size() == i) return fail("saved state: a job stands twice");
    TRY(loaded.load_job(entry, flags[i]));
  }
  TRY(loaded.load_trials(state));
  const auto aliases = TRY(numbers_at(state, "aliases"));
  if (aliases.size() % 2 != 0) return fail("saved state: half of an alias");
  for (std::size_t i = 0; i < aliases.size(); i += 2) {
    for (const double id : {aliases[i], aliases[i + 1]}) {
      if (!is_index(id, static_cast<double>(loaded.next_id_))) {
        return fail("saved state: an alias of a trial that was never given out");
      }
    }
    loaded.alias(static_cast<TrialId>(aliases[i]), static_cast<TrialId>(aliases[i + 1]));
  }
  TRY(loaded.load_waiting(state));
  TRY(loaded.checkpoints_.load(TRY(object_at(state, "checkpoints"))));
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
