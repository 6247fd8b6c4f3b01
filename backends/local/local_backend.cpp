#include "backends/local/local_backend.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 forgets to say so itself
}

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "backends/local/leftovers.h"
#include "backends/local/local_attempt.h"
#include "backends/local/machine.h"
#include "backends/local/shim_process.h"
#include "backends/local/trial_inputs.h"
#include "backends/report/attempt_end.h"
#include "backends/report/final_result.h"
#include "backends/report/spool.h"
#include "backends/report/spool_reader.h"
#include "backends/trial_folder.h"
#include "os/clock.h"
#include "os/trust.h"

namespace attune {
namespace {

// Read from one trial in its turn, at most, so that none starves the others.
constexpr std::size_t kBytesPerTrial = 256 << 10;
constexpr int kPiecesPerFetch = 8;

// The trial will load the checkpoint, and a program that loads a checkpoint may execute what is in
// it: so it must belong to the user.
Result<void> check_checkpoint(const std::filesystem::path& checkpoint) {
  const UniqueFd folder(::open(checkpoint.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return {};  // the shim reports why
  return check_owner(folder.get(), checkpoint.string());
}

}  // namespace

Result<std::unique_ptr<LocalBackend>> LocalBackend::create(boost::asio::io_context& io,
                                                           LocalBackendOptions options,
                                                           std::function<void()> wake) {
  std::error_code error;
  if (!std::filesystem::is_directory(options.code_directory, error)) {
    return fail(
        fmt::format("the trial code directory {} does not exist", options.code_directory.string()));
  }
  if (::access(options.shim.c_str(), X_OK) != 0) {
    return fail(fmt::format("{}: {}; it belongs beside attune, and runs the trials",
                            options.shim.string(), strerror(errno)));
  }
  std::shared_ptr<GpuRotation> gpus = options.shared_gpus;
  if (!gpus || !options.gpu_indices.empty()) {
    std::vector<GpuName> devices;
    for (const int index : options.gpu_indices) devices.push_back(fmt::format("{}", index));
    if (options.gpus == GpuUse::assign && devices.empty())
      devices = TRY(find_gpus(options.environment, options.gpu_lister));
    gpus = std::make_shared<GpuRotation>(std::move(devices), options.trials_per_gpu);
  }
  std::unique_ptr<LocalBackend> backend(
      new LocalBackend(io, std::move(options), std::move(gpus), std::move(wake)));
  backend->watch_ =
      TRY(FileWatch::create(io, [self = backend.get()](int key) { self->mark_changed(key); }));
  return backend;
}

LocalBackend::LocalBackend(boost::asio::io_context& io, LocalBackendOptions options,
                           std::shared_ptr<GpuRotation> gpus, std::function<void()> wake)
    : io_(io),
      options_(std::move(options)),
      wake_(std::move(wake)),
      gpus_(std::move(gpus)),
      checkpoints_(io,
                   [this](CheckpointStored saved) {
                     events_.emplace_back(std::move(saved));
                     this->wake();
                   }),
      buffer_(kBytesPerTrial) {
  capacity_.cpu = usable_cores();
  capacity_.memory = usable_memory();
  if (options_.gpus == GpuUse::assign) {
    capacity_.gpu = static_cast<double>(gpus_->devices().size()) * options_.trials_per_gpu;
  }
  capacity_.custom = options_.custom;
}

LocalBackend::~LocalBackend() = default;

void LocalBackend::set_path(const std::filesystem::path& directory) {
  path_ = directory;
  checkpoints_.set_path(path_ / "checkpoints");
}

// ---- starting

Result<void> LocalBackend::start(const TrialStart& start) {
  if (by_job_.contains(start.job_id)) return fail("trial " + start.job_id + " runs already");
  if (!is_job_id(start.job_id)) return fail("a job id consists of letters and digits");
  if (!start.checkpoint.empty() && !is_checkpoint_id(start.checkpoint)) {
    return fail("a checkpoint is named by letters, digits, '-' and '_'");
  }
  if (!start.checkpoint.empty()) TRY(check_checkpoint(checkpoints_.folder(start.checkpoint)));
  TRY(make_private_directories(path_ / "trials"));  // somebody may have removed it
  TrialFolder files = TRY(TrialFolder::make(folder(start.job_id)));
  TRY(end_unknown_attempts(files, start.job_id));
  if (hunted_.contains({start.job_id, start.attempt}))
    return fail("what is left of an attempt of this number is being killed");
  checkpoints_.cancel(start.job_id);
  const UniqueFd spool = TRY(files.create_spool(start.attempt));
  TrialInputs inputs = TRY(write_inputs(options_, start, folder(start.job_id), files));
  // A second open file description: the shim's own one holds the lock.
  auto attempt = std::make_unique<Attempt>(io_, start, TRY(files.open_spool(start.attempt)), 0,
                                           options_.report.objective);
  attempt->watch_key =
      TRY(watch_->add(folder(start.job_id) / fmt::format("spool.{}", start.attempt)));

  std::string gpus;
  if (options_.gpus == GpuUse::assign && start.resources.gpu > 0) {
    gpus = fmt::format("{}",
                       fmt::join(gpus_->assign(gpu_user(start.job_id), start.resources.gpu), ","));
  }
  auto process = spawn_process(shim_process(
      options_, {start, folder(start.job_id),
                 start.checkpoint.empty() ? "" : checkpoints_.folder(start.checkpoint), gpus,
                 std::move(inputs.command), spool.get(), std::move(inputs.variables)}));
  if (!process) {
    gpus_->release(gpu_user(start.job_id));
    watch_->remove(attempt->watch_key);
    return std::unexpected(process.error());
  }
  attempt->folder = std::move(files);
  if (!gpus.empty()) {
    events_.push_back(TrialPlace{.job_id = start.job_id, .waits_for = "", .gpus = gpus});
    wake();
  }
  watch_end(keep(std::move(attempt)), std::move(process->pidfd));
  return {};
}

// If the manager's store was replaced by an older one, attempts that it does not know may still run
// in this directory, and their reports would be taken for those of the new attempt. So they are
// killed, and this start fails; the caller tries again.
Result<void> LocalBackend::end_unknown_attempts(const TrialFolder& files,
                                                const std::string& job_id) {
  for (const int attempt : files.attempts()) {
    const auto spool = files.open_spool(attempt);  // an error: the trial has put something there
    if (!spool || !*spool || !is_held(spool->get())) continue;
    hunt(job_id, attempt, read_facts(spool->get(), kBytesPerTrial));
    return fail(fmt::format(
        "attempt {} still ran, of which this store knows nothing; it is killed first", attempt));
  }
  return {};
}

LocalBackend::Attempt& LocalBackend::keep(std::unique_ptr<Attempt> attempt) {
  Attempt& kept = *attempt;
  kept.order = started_++;
  by_job_[kept.job_id] = &kept;
  by_watch_[kept.watch_key] = &kept;
  attempts_[kept.order] = std::move(attempt);
  return kept;
}

// ---- ending

void LocalBackend::watch_end(Attempt& attempt, UniqueFd pidfd) {
  attempt.shim_end.assign(pidfd.release());
  wait_for_end(attempt);
}

void LocalBackend::wait_for_end(Attempt& attempt) {
  // `attempt` is valid in the handler, because an attempt is only removed after its end was seen
  // here.
  attempt.shim_end.async_wait(
      boost::asio::posix::stream_descriptor::wait_read,
      [this, &attempt, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
        if (error || alive.expired()) return;
        // Asio may deliver an event of a descriptor that was closed meanwhile, so ask the
        // descriptor itself.
        pollfd end{attempt.shim_end.native_handle(), POLLIN, 0};
        if (::poll(&end, 1, 0) != 1) {
          wait_for_end(attempt);
          return;
        }
        attempt.gone = true;
        mark(attempt);
      });
}

void LocalBackend::stop(const std::string& job_id) {
  const auto found = by_job_.find(job_id);
  if (found == by_job_.end()) return;
  found->second->wanted = Ending::stopped;  // a pause may become a stop
  tell(*found->second, spool::kStopSignal);
}

void LocalBackend::pause(const std::string& job_id) {
  const auto found = by_job_.find(job_id);
  if (found == by_job_.end() || found->second->wanted) return;
  found->second->wanted = Ending::paused;
  tell(*found->second, spool::kPauseSignal);
}

void LocalBackend::kill_all() {
  for (const auto& [order, attempt] : attempts_) {
    if (!attempt->wanted) attempt->wanted = Ending::stopped;
    if (attempt->signal != spool::kKillSignal) force_end_later(*attempt);
    tell(*attempt, spool::kKillSignal);
  }
}

void LocalBackend::tell(Attempt& attempt, int signal) {
  // The shim would take a second request to stop as the end of the grace period; only kill_all()
  // may do that.
  if (attempt.signal != 0 && signal != spool::kKillSignal) return;
  attempt.signal = signal;
  attempt.sent = attempt.shim_end.is_open();  // if not, attach() sends it
  if (attempt.sent) {
    const int shim = attempt.shim_end.native_handle();
    ::pidfd_send_signal(shim, signal, nullptr, 0);
    // A shim that is stopped (SIGSTOP) would not read the signal.
    ::pidfd_send_signal(shim, SIGCONT, nullptr, 0);
  }
}

// A shim may hang in the kernel, or in a debugger.
void LocalBackend::force_end_later(Attempt& attempt) {
  attempt.patience.expires_after(options_.kill_grace);
  attempt.patience.async_wait([this, order = attempt.order, alive = std::weak_ptr(alive_)](
                                  const boost::system::error_code& error) {
    if (error || alive.expired()) return;
    const auto found = attempts_.find(order);
    if (found == attempts_.end()) return;
    Attempt& late = *found->second;
    late.forced = !late.gone;
    // The shim is one of the processes that this kills.
    hunt(late.job_id, late.number, late.spool.facts());
  });
}

// ---- while it runs

Result<void> LocalBackend::give_parameter(const std::string& job_id, std::int64_t index,
                                          const std::string& text) {
  if (!is_job_id(job_id)) return fail("a job id consists of letters and digits");
  const auto found = by_job_.find(job_id);
  if (found != by_job_.end() && found->second->folder)
    return found->second->folder->write(fmt::format("parameter_{}.cfg", index), text);
  const TrialFolder files = TRY(TrialFolder::open(folder(job_id)));
  return files.write(fmt::format("parameter_{}.cfg", index), text);
}

Result<void> LocalBackend::answer(const std::string& job_id, std::int64_t reports) {
  const auto found = by_job_.find(job_id);
  if (found == by_job_.end() || found->second->wanted) return {};
  if (found->second->folder) return found->second->folder->answer(reports);
  const TrialFolder files = TRY(TrialFolder::open(folder(job_id)));
  return files.answer(reports);
}

void LocalBackend::save_checkpoint(const std::string& job_id, const std::string& checkpoint) {
  // An empty path gives the error "nothing saved".
  const std::filesystem::path from =
      is_job_id(job_id) ? CheckpointFolders(folder(job_id)).current : std::string();
  checkpoints_.save(job_id, from, checkpoint);
}

void LocalBackend::copy_checkpoint(const std::string& from, const std::string& to) {
  checkpoints_.copy(from, to);
}

void LocalBackend::delete_checkpoint(const std::string& checkpoint) {
  checkpoints_.remove(checkpoint);
}

void LocalBackend::release(const std::string& job_id) {
  if (!is_job_id(job_id) || by_job_.contains(job_id)) return;
  checkpoints_.remove_folders(job_id, CheckpointFolders(folder(job_id)));
}

void LocalBackend::mark(Attempt& attempt) {
  if (!std::exchange(attempt.ready, true)) ready_.push_back(&attempt);
  wake();
}

void LocalBackend::mark_changed(int watch_key) {
  if (watch_key == FileWatch::kAll) {
    for (const auto& [order, attempt] : attempts_) mark(*attempt);
  } else if (const auto found = by_watch_.find(watch_key); found != by_watch_.end()) {
    mark(*found->second);
  }
}

void LocalBackend::wake() {
  if (std::exchange(wake_posted_, true)) return;
  boost::asio::post(io_, [this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    wake_posted_ = false;
    wake_();
  });
}

// ---- fetching

std::vector<TrialEvent> LocalBackend::fetch_status_results() {
  std::vector<TrialEvent> events = std::exchange(events_, {});
  std::vector<Attempt*> turn = std::exchange(ready_, {});
  std::size_t next = 0;
  // A bounded amount: the owner must be able to do other work between two fetches.
  for (int piece = 0; piece < kPiecesPerFetch * 8 && next < turn.size(); ++next) {
    Attempt& attempt = *turn[next];
    attempt.ready = false;
    // Before reading: if the shim is gone now, this read finds all there is.
    const bool gone = attempt.gone;
    const bool late = attempt.wanted.has_value();
    const bool more = attempt.spool.read(buffer_, late, events);
    // A full buffer counts as eight short reads.
    piece += more ? 8 : 1;
    learn_gpus(attempt, attempt.spool.facts());
    if (more) {
      mark(attempt);
    } else if (gone && is_clear(attempt)) {
      attempt.spool.finish(late, events);
      TrialFinished end = finish(attempt);
      if (attempt.folder) {
        auto last = final_result(options_.report, attempt.spool, *attempt.folder, end);
        if (last) events.push_back(*std::move(last));
      }
      events.emplace_back(std::move(end));
      forget(attempt);
    }
  }
  // Attempts that had no turn come before those that are ready again.
  if (next < turn.size()) {
    ready_.insert(ready_.begin(), turn.begin() + static_cast<std::ptrdiff_t>(next), turn.end());
    wake();
  }
  return events;
}

TrialFinished LocalBackend::finish(Attempt& attempt) {
  // Reaps the shim if it is a child of this process. How the trial ended is in the spool; `info` is
  // only for a shim that wrote no end.
  siginfo_t info = {};
  if (attempt.shim_end.is_open()) {
    ::waitid(P_PIDFD, static_cast<id_t>(attempt.shim_end.native_handle()), &info,
             WEXITED | WNOHANG);
  }
  const AttemptFacts& facts = attempt.spool.facts();
  TrialFinished end = end_of_attempt(facts, attempt.wanted);
  end.job_id = attempt.job_id;
  if (!facts.exit) {
    end.time = SystemClock().wall();
    end.ran = seconds_since_start(facts);
    end.detail = attempt.forced            ? "its shim did not end, and was killed"
                 : attempt.spool.damaged() ? std::string(kSpoolDamaged)
                                           : why_lost(info);
    if (attempt.forced) end.how = attempt.wanted.value_or(Ending::stopped);
  }
  return end;
}

void LocalBackend::forget(Attempt& attempt) {
  gpus_->release(gpu_user(attempt.job_id));
  watch_->remove(attempt.watch_key);
  by_watch_.erase(attempt.watch_key);
  by_job_.erase(attempt.job_id);
  attempts_.erase(attempt.order);
}

}  // namespace attune
