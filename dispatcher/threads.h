#pragma once
// The two workers on threads of their own, behind bounded queues. Before start() the caller's
// thread plays both of them, step by step: so a journal is replayed.
//
// Order at the end: perhaps drop_requests() and drop_reports(), close_assess(), close_tune(),
// take() until both workers have said Finished, join(). The owner must do so before destruction, or
// leave by _exit when a worker is stuck.
#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "base/queue.h"
#include "dispatcher/assess_worker.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/request_pieces.h"
#include "dispatcher/tune_worker.h"
#include "os/clock.h"

namespace attune {

class WorkerThreads : public Queues {
 public:
  struct Limits {
    std::size_t queue_bytes = 8u << 20;   // of each queue
    std::size_t output_bytes = 8u << 20;  // of what the workers have said
    std::int64_t ask_at_once = kAskAtOnce;
  };

  // `clock` lives longer: it only measures.
  WorkerThreads(TuneWorker tune, AssessWorker assess, Limits limits, const Clock& clock);

  // ---- before start()

  TuneWorker& tune() { return tune_; }
  AssessWorker& assess() { return assess_; }
  // The worker handles its next message, and take() has what it says; false: there is none.
  bool step(WorkerName worker);

  // `wake` is called from worker threads and must only wake the io thread: take() has something
  // again, or a refused message fits again.
  void start(std::function<void()> wake);

  // ---- for the io thread

  bool try_push(TuneMessage& message, std::size_t bytes) override;
  bool try_push(AssessMessage& message, std::size_t bytes) override;
  void push_over_limit(TuneMessage message, std::size_t bytes) override;
  void push_over_limit(AssessMessage message, std::size_t bytes) override;
  void push_first(TuneMessage message, std::size_t bytes, const Each<TuneMessage>& each) override;
  void push_first(AssessMessage message, std::size_t bytes,
                  const Each<AssessMessage>& each) override;
  void wake();  // once after try_push, for as many messages as there were
  std::size_t tune_size() const override { return tune_queue_.size(); }
  std::size_t assess_size() const override { return assess_queue_.size(); }

  // How long the workers have worked since they last saved their states, which is what doing it
  // again takes, and how long saving them took. By the wall, not by the processor: asking for the
  // time of a thread is a call into the kernel, which takes longer than many a message.
  double unsaved_seconds() const { return tune_spent_.unsaved + assess_spent_.unsaved; }
  double saving_seconds() const { return tune_spent_.saving + assess_spent_.saving; }

  // What a worker said next; workers wait while too much lies here.
  struct Output {
    WorkerName from = WorkerName::tune;
    WorkerMessage message;
  };
  std::optional<Output> take();

  // Drops queued requests for trials, or what the assessor's queue has of intermediate results.
  void drop_requests();
  void drop_reports();
  // The worker handles what is queued, and finishes. The assessor's first: what it decides last is
  // still for the tuner.
  void close_assess() { assess_queue_.close(); }
  void close_tune() { tune_queue_.close(); }
  void join();

 private:
  struct Spent {  // written by one thread
    std::atomic<double> unsaved = 0, saving = 0;
  };
  template <class Worker, class Message>
  bool handle(WorkerName name, Worker& worker, Message message);
  template <class Worker, class Message>
  void run(WorkerName name, Worker& worker, BoundedQueue<Message>& queue);
  void say(WorkerName from, WorkerMessage message);
  void wake_io();

  TuneWorker tune_;
  AssessWorker assess_;
  const Clock& clock_;
  Spent tune_spent_, assess_spent_;
  std::function<void()> wake_io_;  // before start(): none
  BoundedQueue<TuneMessage> tune_queue_;
  BoundedQueue<AssessMessage> assess_queue_;
  BoundedQueue<Output> output_;
  std::atomic<bool> told_ = false;  // wake_io_ was called since the io thread last found nothing
  std::thread tune_thread_, assess_thread_;  // last: they use all of the above
};

}  // namespace attune
