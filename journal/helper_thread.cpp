#include "journal/helper_thread.h"

#include <pthread.h>

#include <exception>
#include <utility>

#include "base/check.h"

namespace attune {

HelperThread::HelperThread(std::string name, std::function<void()> done)
    : name_(std::move(name)), done_(std::move(done)) {}

HelperThread::~HelperThread() {
  {
    const std::lock_guard guard(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void HelperThread::start(std::function<Result<void>()> job) {
  ATTUNE_CHECK(!busy_);
  busy_ = true;
  {
    const std::lock_guard guard(mutex_);
    job_ = std::move(job);
  }
  if (!thread_.joinable()) {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), name_.c_str());
  }
  changed_.notify_all();
}

std::optional<Result<void>> HelperThread::take() {
  const std::lock_guard guard(mutex_);
  if (result_) busy_ = false;
  return std::exchange(result_, std::nullopt);
}

void HelperThread::wait() {
  if (!busy_) return;
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return result_.has_value(); });
}

void HelperThread::run() {
  while (true) {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return closed_ || job_; });
    if (!job_) return;
    guard.unlock();
    auto result = attempt();
    guard.lock();
    job_ = nullptr;  // releases what it captured, such as a descriptor
    result_ = std::move(result);
    guard.unlock();
    changed_.notify_all();
    done_();
  }
}

Result<void> HelperThread::attempt() const {
  try {
    return job_();
  } catch (const std::exception& error) {  // no memory, most likely
    return fail(name_ + ": " + error.what());
  }
}

}  // namespace attune
