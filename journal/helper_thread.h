#pragma once
// Runs one job at a time on a thread of its own, which starts with the first job and is reused. An
// exception of a job becomes the job's error.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"

namespace attune {

// Only the owner thread calls it. The owner may read what a job wrote after take() has returned the
// job's result, or after wait().
class HelperThread {
 public:
  // The helper thread calls `done` after each job. `name` has at most 15 characters, the limit of
  // pthread_setname_np().
  HelperThread(std::string name, std::function<void()> done);
  ~HelperThread();  // waits for the running job
  HelperThread(const HelperThread&) = delete;
  HelperThread& operator=(const HelperThread&) = delete;

  void start(std::function<Result<void>()> job);  // must not be busy() (checked)
  bool busy() const { return busy_; }             // from start() until take() returned the result
  std::optional<Result<void>> take();             // the job's result; nothing while it runs
  void wait();  // blocks until the job is done; its result is left for take()

 private:
  void run();
  Result<void> attempt() const;

  const std::string name_;
  const std::function<void()> done_;
  bool busy_ = false;  // used by the owner thread only, so not under mutex_
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<Result<void>()> job_;   // waiting or running
  std::optional<Result<void>> result_;  // of the last one, until it is taken
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace attune
