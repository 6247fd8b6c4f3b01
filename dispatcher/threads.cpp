#include "dispatcher/threads.h"

#include <pthread.h>

#include <exception>

#include "base/algorithm_failure.h"
#include "dispatcher/message_size.h"

namespace attune {
WorkerThreads::WorkerThreads(TuneWorker tune, AssessWorker assess, Limits limits,
                             const Clock& clock)
    : tune_(std::move(tune)),
      assess_(std::move(assess)),
      clock_(clock),
      tune_queue_(
          limits.queue_bytes, [this] { wake_io(); },
          [at_once = limits.ask_at_once](TuneMessage& m) { return take_piece(m, at_once); }),
      assess_queue_(limits.queue_bytes, [this] { wake_io(); }),
      output_(limits.output_bytes) {}

void WorkerThreads::start(std::function<void()> wake) {
  wake_io_ = std::move(wake);
  tune_thread_ = std::thread([this] { run(WorkerName::tune, tune_, tune_queue_); });
  assess_thread_ = std::thread([this] { run(WorkerName::assess, assess_, assess_queue_); });
  pthread_setname_np(tune_thread_.native_handle(), "tune");
  pthread_setname_np(assess_thread_.native_handle(), "assess");
}

bool WorkerThreads::step(WorkerName name) {
  if (name == WorkerName::tune) {
    auto message = tune_queue_.try_pop();
    return message && handle(name, tune_, *std::move(message));
  }
  auto message = assess_queue_.try_pop();
  return message && handle(name, assess_, *std::move(message));
}

// Handles one message and queues the answers for take(). False: the worker failed, and must get no
// more messages.
template <class Worker, class Message>
bool WorkerThreads::handle(WorkerName name, Worker& worker, Message message) {
  try {
    Spent& spent = name == WorkerName::tune ? tune_spent_ : assess_spent_;
    const bool saves = std::holds_alternative<SaveState>(message);
    const double began = clock_.now();
    WorkerMessages answers = worker.handle(std::move(message));
    const double took = clock_.now() - began;
    spent.unsaved = saves ? 0 : spent.unsaved + took;
    if (saves) spent.saving = took;
    for (WorkerMessage& answer : answers) say(name, std::move(answer));
    return true;
  } catch (const AlgorithmFailure& failure) {
    say(name, Failed{kExitInternal, failure.what(), /*algorithm=*/true});
    return false;
  } catch (const std::exception& error) {
    // Reported at once: while nothing else happens, nobody would notice that a worker died.
    say(name, Failed{kExitInternal, std::string("internal error in a worker: ") + error.what()});
    return false;
  }
}

template <class Worker, class Message>
void WorkerThreads::run(WorkerName name, Worker& worker, BoundedQueue<Message>& queue) {
  while (auto message = queue.pop()) {
    if (!handle(name, worker, *std::move(message))) break;
  }
  say(name, Finished{});
}

void WorkerThreads::say(WorkerName from, WorkerMessage message) {
  const std::size_t bytes = memory_of(message);
  if (!wake_io_) {  // before start(): waiting would never end, as this thread is to call take()
    output_.push_over_limit({from, std::move(message)}, bytes);
  } else if (output_.push({from, std::move(message)}, bytes) && !told_.exchange(true)) {
    wake_io_();
  }
}

void WorkerThreads::wake_io() {
  if (wake_io_) wake_io_();
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

void WorkerThreads::push_first(TuneMessage message, std::size_t bytes,
                               const Each<TuneMessage>& each) {
  tune_queue_.push_first(std::move(message), bytes, each);
}

void WorkerThreads::push_first(AssessMessage message, std::size_t bytes,
                               const Each<AssessMessage>& each) {
  assess_queue_.push_first(std::move(message), bytes, each);
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
    return std::holds_alternative<AskTrials>(m) || std::holds_alternative<AskForJob>(m) ||
           std::holds_alternative<Refuse>(m);
  });
}

void WorkerThreads::drop_reports() {
  assess_queue_.erase_if(
      [](const AssessMessage& m) { return std::holds_alternative<IntermediateResult>(m); });
}

void WorkerThreads::join() {
  if (tune_thread_.joinable()) tune_thread_.join();
  if (assess_thread_.joinable()) assess_thread_.join();
}

}  // namespace attune
