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

constexpr std::size_t kFirstRecord = 4096;  // the first record of a spool lies within so many bytes
// The interval for looking at an attempt whose shim has not written its first record.
constexpr std::chrono::milliseconds kAttach{20};

// Nothing if the directory does not exist.
Result<std::optional<TrialFolder>> find_folder(const std::filesystem::path& folder) {
  if (std::error_code none; !std::filesystem::exists(folder, none)) return std::nullopt;
  return TRY(TrialFolder::open(folder));
}

// Invalid if there is no spool.
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
    // The caller will take the attempt for dead, so it must not run.
    hunt(start.job_id, start.attempt, {});
    return std::unexpected(spool.error());
  }
  if (!*spool) return adopt_without_spool(start);
  // The lock is checked before reading: if nobody holds it, the spool is complete, and what is read
  // is all there will ever be.
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
  // Nobody has counted the time while there was no manager.
  if (const auto ran = seconds_since_start(facts); ran && lives)
    events_.emplace_back(TrialPlace{.job_id = start.job_id, .waits_for = "", .ran = *ran});
  Attempt& kept = keep(std::move(attempt));
  attach(kept);
  mark(kept);
  return lives || facts.exit ? Adoption::taken : Adoption::lost;
}

// Without a spool, the attempt was either never started, or its files were removed and it may still
// run.
TrialBackend::Adoption LocalBackend::adopt_without_spool(const TrialStart& start) {
  if (!kill_leftovers(folder(start.job_id), start.attempt, {})) return Adoption::not_started;
  auto attempt = std::make_unique<Attempt>(io_, start, UniqueFd(), 0, options_.report.objective);
  attempt->gone = true;
  mark(keep(std::move(attempt)));
  return Adoption::lost;
}

// Takes over the GPUs of an adopted attempt. A shim that was started just now may not have written
// them down yet.
void LocalBackend::learn_gpus(Attempt& attempt, const AttemptFacts& facts) {
  if (attempt.gpus_known || !facts.shim) return;
  attempt.gpus_known = true;
  if (!facts.gpus.empty()) gpus_->adopt(gpu_user(attempt.job_id), facts.gpus, attempt.gpus);
}

// Finds the shim of an attempt that another manager started, and watches for its end.
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
  // The shim is just starting or just ending. There is no event for a lock, so look again later.
  attempt.look_again.expires_after(kAttach);
  attempt.look_again.async_wait(
      [this, &attempt, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
        if (!error && !alive.expired()) attach(attempt);
      });
}

}  // namespace attune
