#pragma once
// Runs the two workers on threads of their own, behind bounded queues. Before start() the caller's
// thread runs them, one message at a time: Replay does that.
//
// At the end the owner calls, in this order: perhaps drop_requests() and drop_reports();
// close_assess(); take() until the assess worker has said Finished; close_tune(); take() until the
// tune worker has; join(). The owner must do so before destruction, or leave by _exit when a worker
// is stuck.
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
    std::size_t output_bytes = 8u << 20;  // of the workers' messages that io has not taken
    std::int64_t ask_at_once = kAskAtOnce;
  };

  // `clock` must outlive this object. It only measures: no answer depends on it.
  WorkerThreads(TuneWorker tune, AssessWorker assess, Limits limits, const Clock& clock);

  // ---- before start()

  TuneWorker& tune() { return tune_; }
  AssessWorker& assess() { return assess_; }
  // Lets the worker handle its next message; take() then returns what it says. False: its queue is
  // empty, or it failed.
  bool step(WorkerName worker);

  // Starts both threads. They call `wake` when take() has something again, or when a refused
  // message may fit again. It must only wake the io thread.
  void start(std::function<void()> wake);

  // ---- for the io thread

  bool try_push(TuneMessage& message, std::size_t bytes) override;
  bool try_push(AssessMessage& message, std::size_t bytes) override;
  void push_over_limit(TuneMessage message, std::size_t bytes) override;
  void push_over_limit(AssessMessage message, std::size_t bytes) override;
  void push_first(TuneMessage message, std::size_t bytes, const Each<TuneMessage>& each) override;
  void push_first(AssessMessage message, std::size_t bytes,
                  const Each<AssessMessage>& each) override;
  void wake();  // wakes sleeping workers; needed once after any number of calls of try_push()
  std::size_t tune_size() const override { return tune_queue_.size(); }
  std::size_t assess_size() const override { return assess_queue_.size(); }

  // How long the workers have worked since they last saved their states, which is about what a
  // replay would take; and how long the last saving took. Wall-clock time, because asking for a
  // thread's processor time is a call into the kernel, which takes longer than many a message.
  double unsaved_seconds() const { return tune_spent_.unsaved + assess_spent_.unsaved; }
  double saving_seconds() const { return tune_spent_.saving + assess_spent_.saving; }

  // The next message of a worker; nothing: there is none now. Workers block while more than
  // output_bytes wait here.
  struct Output {
    WorkerName from = WorkerName::tune;
    WorkerMessage message;
  };
  std::optional<Output> take();

  // Drop what is queued: the requests for trials, or the assessor's intermediate results.
  void drop_requests();
  void drop_reports();
  // The worker handles what is queued, says Finished, and ends. Close the assessor's queue first:
  // its last decisions may put final results on the tuner's queue.
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
  std::function<void()> wake_io_;  // empty before start()
  BoundedQueue<TuneMessage> tune_queue_;
  BoundedQueue<AssessMessage> assess_queue_;
  BoundedQueue<Output> output_;
  std::atomic<bool> told_ = false;  // wake_io_ was called since the io thread last found nothing
  std::thread tune_thread_, assess_thread_;  // last: they use all of the above
};

}  // namespace attune
