#pragma once
// A thread that does one job at a time for another thread, and lives from the first one on.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace attune {

// Used by its owner thread. What a job writes may be read after take() or wait().
class HelperThread {
 public:
  // `done` is called on the helper after each job. The name has at most 15 characters.
  HelperThread(std::string name, std::function<void()> done);
  ~HelperThread();  // after the job in hand
  HelperThread(const HelperThread&) = delete;
  HelperThread& operator=(const HelperThread&) = delete;

  void start(std::function<void()> job);  // not while busy()
  bool busy() const { return busy_; }     // from start() until take() says that it is done
  bool take();                            // whether the job that was started has been done since
  void wait();                            // until take() would say so

 private:
  void run();

  const std::string name_;
  const std::function<void()> done_;
  bool busy_ = false;  // the owner's
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;  // to be done, or in hand
  bool finished_ = false, closed_ = false;
  std::thread thread_;
};

}  // namespace attune
