#include "dashboard/answer_thread.h"

#include <optional>
#include <utility>

namespace attune {

AnswerThread::AnswerThread(ViewSource& source) {
  thread_ = std::thread([this, &source] {
    const std::unique_ptr<View> view = source.view();
    while (std::optional<Task> task = queue_.pop()) (*task)(*view);
  });
}

AnswerThread::~AnswerThread() {
  queue_.erase_if([](const Task&) { return true; });
  queue_.close();
  thread_.join();
}

bool AnswerThread::add(Task task, std::size_t bytes) {
  if (!queue_.try_push(task, kTask + bytes)) return false;
  queue_.wake();
  return true;
}

}  // namespace attune
