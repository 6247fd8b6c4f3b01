#pragma once
// The two workers on threads of their own, behind bounded queues.
//
// Order at the end: perhaps drop_requests(), close_assess(), close_tune(), take() until both
// workers have said Finished, join(). The owner must do so before destruction, or leave by _exit
// when a worker is stuck.
#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "base/queue.h"
#include "dispatcher/assess_worker.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/tune_worker.h"

namespace attune {

class WorkerThreads : public Queues {
 public:
  struct Limits {
    std::size_t queue_bytes = 8u << 20;   // of each queue
    std::size_t output_bytes = 8u << 20;  // of what the workers have said
  };

  // Both callbacks are called from worker threads and must only wake the io thread: `on_output`
  // when take() has something again, `on_room` when a refused message fits again.
  WorkerThreads(TuneWorker tune, AssessWorker assess, Limits limits,
                std::function<void()> on_output, std::function<void()> on_room);

  // ---- for the io thread

  bool try_push(TuneMessage& message, std::size_t bytes) override;
  bool try_push(AssessMessage& message, std::size_t bytes) override;
  void push_over_limit(TuneMessage message, std::size_t bytes) override;
  void push_over_limit(AssessMessage message, std::size_t bytes) override;
  void wake();  // once after try_push, for as many messages as there were
  std::size_t tune_size() const override { return tune_queue_.size(); }
  std::size_t assess_size() const override { return assess_queue_.size(); }

  // What a worker said next; workers wait while too much lies here.
  struct Output {
    WorkerName from = WorkerName::tune;
    WorkerMessage message;
  };
  std::optional<Output> take();

  // Drops queued requests for trials and queued intermediate results; ends and results stay.
  void drop_requests();
  // The worker handles what is queued, and finishes. The assessor's first: what it decides last is
  // still for the tuner.
  void close_assess() { assess_queue_.close(); }
  void close_tune() { tune_queue_.close(); }
  // A worker is packing its state, which may take a while when there is much of it.
  bool saving() const { return saving_ > 0; }
  void join();

 private:
  template <class Worker, class Message>
  void run(WorkerName name, Worker& worker, BoundedQueue<Message>& queue);
  void say(WorkerName from, WorkerMessage message);

  TuneWorker tune_;
  AssessWorker assess_;
  const std::function<void()> on_output_;
  BoundedQueue<TuneMessage> tune_queue_;
  BoundedQueue<AssessMessage> assess_queue_;
  BoundedQueue<Output> output_;
  std::atomic<bool> told_ = false;  // on_output was called since the io thread last found nothing
  std::atomic<int> saving_ = 0;     // workers that are
  std::thread tune_thread_, assess_thread_;  // last: they use all of the above
};

}  // namespace attune
