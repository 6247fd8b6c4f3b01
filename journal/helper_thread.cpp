#include "journal/helper_thread.h"

#include <pthread.h>

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

void HelperThread::start(std::function<void()> job) {
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

bool HelperThread::take() {
  const std::lock_guard guard(mutex_);
  if (!std::exchange(finished_, false)) return false;
  busy_ = false;
  return true;
}

void HelperThread::wait() {
  if (!busy_) return;
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return finished_; });
}

void HelperThread::run() {
  while (true) {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return closed_ || job_; });
    if (!job_) return;
    guard.unlock();
    job_();
    guard.lock();
    job_ = nullptr;  // with all that it holds
    finished_ = true;
    guard.unlock();
    changed_.notify_all();
    done_();
  }
}

}  // namespace attune
