#pragma once
// A thread with a queue of tasks, which share one View.
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>

#include "base/queue.h"
#include "dashboard/view.h"

namespace attune {

class AnswerThread {
 public:
  using Task = std::function<void(View&)>;

  // The thread makes its view first. `source` outlives this object.
  explicit AnswerThread(ViewSource& source);
  ~AnswerThread();  // drops the tasks that have not begun, and waits for the one that has
  AnswerThread(const AnswerThread&) = delete;
  AnswerThread& operator=(const AnswerThread&) = delete;

  // Any thread may call. Returns false if the queue is full: too many clients ask at once.
  // `bytes`: about how much the task holds.
  bool add(Task task, std::size_t bytes = 0);

 private:
  static constexpr std::size_t kLimit = std::size_t{64} << 20;
  static constexpr std::size_t kTask = 64 << 10;  // so that at most 1,024 of them wait

  BoundedQueue<Task> queue_{kLimit};
  std::thread thread_;
};

}  // namespace attune
