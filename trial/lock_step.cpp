#include "trial/lock_step.h"

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

#include "trial/checkpoint_dirs.h"

namespace attune {
namespace fs = std::filesystem;
namespace {

// Sleeping and being woken takes longer than a short step. So the waiting side first looks for some
// tens of microseconds, and yields in between.
template <class Ready>
void await(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, Ready&& ready) {
  constexpr int kLooks = 200;
  for (int i = 0; i < kLooks && !ready(); ++i) {
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
  changed.wait(lock, ready);
}

}  // namespace

LockStep::LockStep(FunctionIdentity identity, std::shared_ptr<const Clock> clock)
    : identity_(std::move(identity)), clock_(std::move(clock)) {}

void LockStep::report(const json& metrics) {
  check_metrics(metrics);
  hand_over(metrics.is_object() ? metrics : json{{kMetric, metrics}}, true);
}

void LockStep::hand_over(json result, bool await_step) {
  std::unique_lock lock(mutex_);
  if (ending_) throw TrialStopped();
  // Read before the host sees the result: the host's work on it is not the function's time.
  const double now = clock_->now();
  if (!result.contains("time_this_iter_s")) result["time_this_iter_s"] = now - last_report_;
  last_report_ = now;
  // The place is free: the host took the last result before it let the function go on.
  result_ = std::move(result);
  changed_.notify_all();
  if (!await_step) return;
  await(lock, changed_, [&] { return ending_ || may_go_on_; });
  if (ending_) throw TrialStopped();
  may_go_on_ = false;
}

fs::path LockStep::make_checkpoint_dir(std::int64_t step) {
  // Locked all the time: a function that is left behind must not empty what its successor saves.
  const std::lock_guard lock(mutex_);
  if (ending_) throw TrialStopped();
  auto folder = checkpoint_dirs::make(identity_.log_directory, step);
  if (!folder) throw std::runtime_error(folder.error().message);
  if (checkpoint_ && checkpoint_ == checkpoint_dirs::find(*folder).value_or(fs::path())) {
    checkpoint_.reset();  // it was just emptied
    new_checkpoint_ = false;
  }
  return *std::move(folder);
}

void LockStep::set_checkpoint(const fs::path& path) {
  const std::lock_guard lock(mutex_);
  if (ending_) throw TrialStopped();
  auto folder = checkpoint_dirs::find(path);
  if (!folder) throw std::runtime_error(folder.error().message);
  checkpoint_ = *std::move(folder);
  new_checkpoint_ = true;
}

void LockStep::run(const TrialFunction& function, const json& config, const CheckpointDir& from) {
  std::optional<json> returned;
  std::optional<std::string> error;
  last_report_ = clock_->now();
  try {
    returned = function(config, *this, from);
    if (returned) report(*returned);
    // Marks the end, for a host that waits for one more result. It does not wait for a step, so
    // that the thread ends even if the host never steps again.
    hand_over({{kDuplicate, true}}, false);
  } catch (const TrialStopped&) {  // NOLINT(bugprone-empty-catch)
    // The host asked for it, or the function ends itself without a word, as StopIteration does in
    // Python.
  } catch (const std::exception& thrown) {
    error = thrown.what();
  } catch (...) {
    error = "something that is no std::exception";
  }
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
  ended_ = true;
  changed_.notify_all();
}

void LockStep::go_on() {
  const std::lock_guard lock(mutex_);
  may_go_on_ = true;
  changed_.notify_all();
}

std::optional<json> LockStep::wait() {
  std::unique_lock lock(mutex_);
  await(lock, changed_, [&] { return ended_ || result_; });
  return std::exchange(result_, std::nullopt);
}

std::optional<std::string> LockStep::take_error() {
  const std::lock_guard lock(mutex_);
  return std::exchange(error_, std::nullopt);
}

bool LockStep::has_result() const {
  const std::lock_guard lock(mutex_);
  return result_.has_value();
}

bool LockStep::end(std::chrono::duration<double> patience) {
  std::unique_lock lock(mutex_);
  ending_ = true;
  changed_.notify_all();
  // A longer time would overflow the clock, and the wait would end at once.
  constexpr std::chrono::duration<double> kYear = std::chrono::years(1);
  return changed_.wait_for(lock, std::min(kYear, patience), [&] { return ended_; });
}

std::optional<fs::path> LockStep::checkpoint() const {
  const std::lock_guard lock(mutex_);
  return checkpoint_;
}

bool LockStep::has_new_checkpoint() const {
  const std::lock_guard lock(mutex_);
  return new_checkpoint_;
}

void LockStep::checkpoint_seen() {
  const std::lock_guard lock(mutex_);
  new_checkpoint_ = false;
}

void LockStep::restore_checkpoint(fs::path folder) {
  const std::lock_guard lock(mutex_);
  checkpoint_ = std::move(folder);
  new_checkpoint_ = false;
}

}  // namespace attune
