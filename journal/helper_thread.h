#pragma once
// A thread that does one job at a time for another thread, and lives from the first one on. A job
// that throws is a job that failed: the exception becomes its error.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"

namespace attune {

// Used by its owner thread. What a job writes may be read after take() or wait().
class HelperThread {
 public:
  // `done` is called on the helper after each job. The name has at most 15 characters.
  HelperThread(std::string name, std::function<void()> done);
  ~HelperThread();  // after the job in hand
  HelperThread(const HelperThread&) = delete;
  HelperThread& operator=(const HelperThread&) = delete;

  void start(std::function<Result<void>()> job);  // not while busy()
  bool busy() const { return busy_; }             // from start() until take() has its result
  std::optional<Result<void>> take();             // of the job that was started, once it is done
  void wait();                                    // until take() would have it

 private:
  void run();
  Result<void> attempt() const;

  const std::string name_;
  const std::function<void()> done_;
  bool busy_ = false;  // the owner's
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<Result<void>()> job_;   // to be done, or in hand
  std::optional<Result<void>> result_;  // of the last one, until it is taken
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace attune
