// LocalBackend: attempts that an earlier manager started.
#include <unistd.h>

extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 forgets to say so itself
}

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "backends/local/leftovers.h"
#include "backends/local/local_attempt.h"
#include "backends/report/spool.h"
#include "backends/trial_folder.h"

namespace attune {
namespace {

constexpr std::size_t kFirstRecord = 4096;  // is within so many bytes of a spool
// How often an attempt is looked at whose shim has not written its first record.
constexpr std::chrono::milliseconds kAttach{20};

// Nothing when it is not there.
Result<std::optional<TrialFolder>> find_folder(const std::filesystem::path& folder) {
  if (std::error_code none; !std::filesystem::exists(folder, none)) return std::nullopt;
  return TRY(TrialFolder::open(folder));
}

// Invalid when there is none.
Result<UniqueFd> find_spool(const Result<std::optional<TrialFolder>>& folder, int attempt) {
  if (!folder) return std::unexpected(folder.error());
  return *folder ? (*folder)->open_spool(attempt) : UniqueFd();
}

}  // namespace

Result<TrialBackend::Adoption> LocalBackend::adopt(const TrialStart& start,
                                                   std::uint64_t position) {
  if (by_job_.contains(start.job_id)) return fail("trial " + start.job_id + " runs already");
  if (!is_job_id(start.job_id)) return fail("a job id consists of letters and digits");
  const auto path = folder(start.job_id);
  auto files = find_folder(path);
  Result<UniqueFd> spool = find_spool(files, start.attempt);
  if (!spool) {
    hunt({path, start.attempt, {}});  // whoever calls takes it for dead
    return std::unexpected(spool.error());
  }
  if (!*spool) return adopt_without_spool(start);
  // In this order: what is written when nobody holds the lock is all that there will ever be.
  const bool lives = is_held(spool->get());
  const AttemptFacts facts = read_facts(spool->get(), SIZE_MAX);
  if (!lives && !facts.shim) return adopt_without_spool(start);

  auto attempt =
      std::make_unique<Attempt>(io_, start, std::move(*spool), position, options_.report.objective);
  attempt->folder = *std::move(files);
  attempt->watch_key = TRY(watch_->add(path / fmt::format("spool.{}", start.attempt)));
  if (facts.told_to_stop || facts.told_to_pause) {
    attempt->wanted = facts.told_to_stop ? Ending::stopped : Ending::paused;
    attempt->signal = spool::kStopSignal;
  }
  attempt->gpus_known = false;
  learn_gpus(*attempt, facts);
  // Nobody has counted while there was no manager.
  if (const auto ran = seconds_since_start(facts); ran && lives)
    events_.emplace_back(TrialPlace{.job_id = start.job_id, .waits_for = "", .ran = *ran});
  Attempt& kept = keep(std::move(attempt));
  attach(kept);
  mark(kept);
  return lives || facts.exit ? Adoption::taken : Adoption::lost;
}

// Either it was never started, or its files were removed, and it may run all the same.
TrialBackend::Adoption LocalBackend::adopt_without_spool(const TrialStart& start) {
  if (!kill_leftovers(folder(start.job_id), start.attempt, {})) return Adoption::not_started;
  auto attempt = std::make_unique<Attempt>(io_, start, UniqueFd(), 0, options_.report.objective);
  attempt->gone = true;
  mark(keep(std::move(attempt)));
  return Adoption::lost;
}

// A shim that was only just started has not written down yet what its trial has.
void LocalBackend::learn_gpus(Attempt& attempt, const AttemptFacts& facts) {
  if (attempt.gpus_known || !facts.shim) return;
  attempt.gpus_known = true;
  if (!facts.gpus.empty()) gpus_->adopt(gpu_user(attempt.job_id), facts.gpus, attempt.gpus);
}

// Finds the process of an attempt that we did not start ourselves.
void LocalBackend::attach(Attempt& attempt) {
  const bool lives = is_held(attempt.spool.fd());
  const auto shim = read_facts(attempt.spool.fd(), kFirstRecord).shim;
  if (!lives) {
    attempt.gone = true;
    mark(attempt);
    return;
  }
  if (shim) {
    UniqueFd process(::pidfd_open(shim->pid, 0));
    if (process && process_start_time(shim->pid) == shim->start) {
      watch_end(attempt, std::move(process));
      if (!attempt.sent) tell(attempt, std::exchange(attempt.signal, 0));
      return;
    }
  }
  // It is just starting, or just ending. No event tells of a lock.
  attempt.look_again.expires_after(kAttach);
  attempt.look_again.async_wait(
      [this, &attempt, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
        if (!error && !alive.expired()) attach(attempt);
      });
}

}  // namespace attune
