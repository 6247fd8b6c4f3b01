#include "dispatcher/threads.h"

#include <pthread.h>

#include <exception>

namespace attune {
namespace {

// An estimate: what the workers say is parsed JSON, whose size nobody counts.
constexpr std::size_t kOutputBytes = 1024;

}  // namespace

WorkerThreads::WorkerThreads(TuneWorker tune, AssessWorker assess, Limits limits,
                             std::function<void()> on_output, std::function<void()> on_room)
    : tune_(std::move(tune)),
      assess_(std::move(assess)),
      on_output_(std::move(on_output)),
      tune_queue_(limits.queue_bytes, on_room),
      assess_queue_(limits.queue_bytes, std::move(on_room)),
      output_(limits.output_bytes),
      tune_thread_([this] { run(WorkerName::tune, tune_, tune_queue_); }),
      assess_thread_([this] { run(WorkerName::assess, assess_, assess_queue_); }) {
  pthread_setname_np(tune_thread_.native_handle(), "tune");
  pthread_setname_np(assess_thread_.native_handle(), "assess");
}

template <class Worker, class Message>
void WorkerThreads::run(WorkerName name, Worker& worker, BoundedQueue<Message>& queue) {
  try {
    while (auto message = queue.pop()) {
      const int saving = std::holds_alternative<SaveState>(*message) ? 1 : 0;
      saving_ += saving;
      for (WorkerMessage& answer : worker.handle(*std::move(message))) say(name, std::move(answer));
      saving_ -= saving;
    }
  } catch (const std::exception& error) {
    // Told at once: an idle experiment would not notice a worker that died.
    say(name, Failed{kExitInternal, std::string("internal error in a worker: ") + error.what()});
  }
  say(name, Finished{});
}

void WorkerThreads::say(WorkerName from, WorkerMessage message) {
  if (output_.push({from, std::move(message)}, kOutputBytes) && !told_.exchange(true)) on_output_();
}

bool WorkerThreads::try_push(TuneMessage& message, std::size_t bytes) {
  return tune_queue_.try_push(message, bytes);
}

bool WorkerThreads::try_push(AssessMessage& message, std::size_t bytes) {
  return assess_queue_.try_push(message, bytes);
}

void WorkerThreads::push_over_limit(TuneMessage message, std::size_t bytes) {
  tune_queue_.push_over_limit(std::move(message), bytes);
}

void WorkerThreads::push_over_limit(AssessMessage message, std::size_t bytes) {
  assess_queue_.push_over_limit(std::move(message), bytes);
}

void WorkerThreads::wake() {
  tune_queue_.wake();
  assess_queue_.wake();
}

std::optional<WorkerThreads::Output> WorkerThreads::take() {
  auto message = output_.try_pop();
  if (message) return message;
  // In this order: a message that arrives in between finds told_ false and calls again.
  told_ = false;
  return output_.try_pop();
}

void WorkerThreads::drop_requests() {
  tune_queue_.erase_if([](const TuneMessage& m) {
    return std::holds_alternative<AskTrials>(m) || std::holds_alternative<AskForJob>(m);
  });
  assess_queue_.erase_if(
      [](const AssessMessage& m) { return std::holds_alternative<IntermediateResult>(m); });
}

void WorkerThreads::join() {
  if (tune_thread_.joinable()) tune_thread_.join();
  if (assess_thread_.joinable()) assess_thread_.join();
}

}  // namespace attune
