#pragma once
// How much the manager has made us remember, against the limits: trials, intermediate results, jobs
// and imported results. Owned by the io thread, whose answers it shapes: part of the exact state.
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
  // `asked` is answered by this trial: the same, or one that goes on, perhaps as another job.
  void offered(TrialId asked, TrialId trial);
  void answered_job(TrialId asked);  // unless the job has ended meanwhile
  void revived(TrialId trial);       // it was ended by mistake
  void no_more(TrialId request);     // those of it that were not offered will not be
  // A trial that is the manager's idea. False: there is no room for it.
  bool add(TrialId trial);
  void ended(TrialId trial);

  // ---- intermediate results of trials that have not ended

  enum class Verdict { take, refuse_first, refuse };  // first: of this trial
  Verdict take_report(TrialId trial, std::size_t bytes);

  // ---- jobs that nothing is known of yet

  // `trial`: ours, that it is said to run. The first job of each outstanding trial costs nothing.
  bool take_job(std::optional<TrialId> trial);

  bool take_import();

  // The manager begins anew: it names the trials that run again.
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
