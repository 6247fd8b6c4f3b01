#pragma once
// Counts what the manager has made the daemon remember, against the limits: trials, intermediate
// results, jobs and imported results. The io thread owns it. Its answers depend on these counts, so
// snapshots save them.
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/result.h"
#include "base/trial.h"
#include "protocol/limits.h"

namespace attune {

class Quotas {
 public:
  explicit Quotas(const Limits& limits) : limits_(limits) {}

  // ---- trials: outstanding from the request, or from being added, until their end

  // How many of `count` may be asked for now; from 0 to `count`.
  std::int64_t room_for_trials(std::int64_t count) const;
  void asked(TrialId first, std::int64_t count);  // one request
  // `asked` was answered: with itself, or with a trial that continues, perhaps in another job.
  void offered(TrialId asked, TrialId trial);
  void answered_job(TrialId asked);  // a running job got this one, and may have ended meanwhile
  void revived(TrialId trial);       // it was ended by mistake
  void no_more(TrialId request);     // its ids that were not offered no longer count
  // Counts a trial that the manager adds. False: there is no room for it.
  bool add(TrialId trial);
  void ended(TrialId trial);

  // ---- intermediate results of trials that have not ended

  enum class Verdict { take, refuse_first, refuse };  // refuse_first: the trial's first refusal
  Verdict take_report(TrialId trial, std::size_t bytes);

  // ---- jobs that nothing is known of yet

  // Counts a new job. `trial`: the trial of ours that it is said to run. The first job of each
  // outstanding trial costs nothing. False: there is no room for it.
  bool take_job(std::optional<TrialId> trial);

  bool take_import();  // counts an imported result; false: there is no room for it

  // The manager starts anew: trials and their intermediate results are forgotten, because the
  // manager names the trials that run again. Jobs and imported results still count.
  void restart();

  // All of the above. On an error nothing changes.
  json save() const;
  Result<void> load(const json& state);

 private:
  struct Outstanding {
    std::optional<TrialId> request;  // the first of it; nothing: nobody has asked for this one
    bool offered = false;
    bool has_job = false;
  };
  struct Kept {  // of the intermediate results of a trial
    std::size_t count = 0;
    std::size_t bytes = 0;
    bool refused = false;
  };

  Limits limits_;
  std::map<TrialId, Outstanding> outstanding_;
  std::map<TrialId, Kept> kept_;
  std::size_t kept_bytes_ = 0;  // sum over kept_
  std::size_t jobs_ = 0;        // beside those that cost nothing
  std::size_t imports_ = 0;
};

}  // namespace attune
