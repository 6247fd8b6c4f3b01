#pragma once
// The dispatcher without threads: a test delivers every message by hand, so that both orders of the
// two queues can be tried.
#include <deque>

#include "assessors/registry.h"
#include "base/check.h"
#include "dispatcher/assess_worker.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/request_pieces.h"
#include "dispatcher/tune_worker.h"
#include "protocol/codec.h"
#include "tests/support/memory_journal.h"
#include "tuners/registry.h"

namespace attune {

class Stepped : private Queues, private Sink {
 public:
  Stepped(std::unique_ptr<Tuner> tuner, bool maximize, std::unique_ptr<Assessor> assessor,
          DispatcherOptions options = {}, Log log = {}, const StoppedRule& stopped = {})
      : options_(with_assessor(options, assessor != nullptr)),
        tune_(Session(std::move(tuner), Objective{"default", maximize}, log,
                      /*manager_pauses=*/false, stopped),
              log),
        assess_(std::move(assessor), log, "default", stopped),
        dispatcher_(std::make_unique<Dispatcher>(options_, static_cast<Queues&>(*this), log)) {
    dispatcher_->attach(*this, journal);
  }

  // With registered algorithms; empty assessor name: none.
  static std::unique_ptr<Stepped> make(const std::string& tuner, const json& tuner_args,
                                       const std::string& assessor = "",
                                       const json& assessor_args = json::object(),
                                       DispatcherOptions options = {}, Log log = {},
                                       StoppedTrials stopped = StoppedTrials::ignore) {
    auto made = make_tuner(builtin_tuners(), tuner, tuner_args, {}, /*fallback_seed=*/1);
    ATTUNE_CHECK(made.has_value());
    std::unique_ptr<Assessor> judge;
    if (!assessor.empty()) {
      auto result = make_assessor(builtin_assessors(), assessor, assessor_args, {}, 1);
      ATTUNE_CHECK(result.has_value());
      judge = *std::move(result);
    }
    options.wants_reports = made->wants_reports;
    return std::make_unique<Stepped>(std::move(made->tuner), made->maximize, std::move(judge),
                                     options, log,
                                     StoppedRule{stopped, {{"default", made->maximize}}});
  }

  // Hands a command to io only.
  void accept(const std::string& code, const std::string& payload) {
    ATTUNE_CHECK(dispatcher_->accept(Frame{code, payload}));
  }
  // One message of that queue; false: the queue is empty.
  bool step_tune() { return step(WorkerName::tune, tune_queue_, tune_); }
  bool step_assess() { return step(WorkerName::assess, assess_queue_, assess_); }
  void settle() {
    while (step_tune() || step_assess()) {
    }
  }
  // accept and settle.
  void send(const std::string& code, const std::string& payload = "") {
    accept(code, payload);
    settle();
  }

  // What was answered since the last call.
  std::vector<Frame> take() { return std::exchange(sent_, {}); }

  MemoryJournal journal;
  // Saves, as attuned would now and then; `saved` has it when both workers have stepped.
  void begin_save() { dispatcher_->save(); }
  json save() {
    begin_save();
    settle();
    return std::exchange(saved, {});
  }
  // In a fresh one: goes on from what another saved, exactly.
  Result<void> load(const json& state) {
    const auto said = TRY(dispatcher_->load(state));
    ATTUNE_CHECK(said.tune.empty() && said.assess.empty());  // save() settles
    TRY(tune_.load(state.at("tuner")));
    return assess_.load(state.at("assessor"));
  }
  // As load(), but the manager has started anew.
  Result<void> restart(const json& state) {
    TRY(load(state));
    dispatcher_->restart();
    tune_.restart(options_.capabilities.pause);
    assess_.restart();
    return {};
  }

  json saved;
  bool terminated = false;
  int exit_code = kExitOk;
  std::string failure;

 private:
  static DispatcherOptions with_assessor(DispatcherOptions options, bool has) {
    options.has_assessor = has;
    return options;
  }

  template <class Queue, class Worker>
  bool step(WorkerName name, Queue& queue, Worker& worker) {
    if (queue.empty() || exit_code != kExitOk) return false;
    auto message = next(queue);
    for (auto& answer : worker.handle(std::move(message)))
      dispatcher_->on_worker(name, std::move(answer));
    return true;
  }

  // As the queues of WorkerThreads.
  static TuneMessage next(std::deque<TuneMessage>& queue) {
    if (auto piece = take_piece(queue.front(), kAskAtOnce)) return *std::move(piece);
    TuneMessage message = std::move(queue.front());
    queue.pop_front();
    return message;
  }
  static AssessMessage next(std::deque<AssessMessage>& queue) {
    AssessMessage message = std::move(queue.front());
    queue.pop_front();
    return message;
  }

  bool try_push(TuneMessage& message, std::size_t) override {
    tune_queue_.push_back(std::move(message));
    return true;
  }
  bool try_push(AssessMessage& message, std::size_t) override {
    assess_queue_.push_back(std::move(message));
    return true;
  }
  void push_over_limit(TuneMessage message, std::size_t) override {
    tune_queue_.push_back(std::move(message));
  }
  void push_over_limit(AssessMessage message, std::size_t) override {
    assess_queue_.push_back(std::move(message));
  }
  void push_first(TuneMessage message, std::size_t, const Each<TuneMessage>& each) override {
    for (const TuneMessage& waiting : tune_queue_) each(waiting, 0);
    tune_queue_.push_front(std::move(message));
  }
  void push_first(AssessMessage message, std::size_t, const Each<AssessMessage>& each) override {
    for (const AssessMessage& waiting : assess_queue_) each(waiting, 0);
    assess_queue_.push_front(std::move(message));
  }
  std::size_t tune_size() const override { return tune_queue_.size(); }
  std::size_t assess_size() const override { return assess_queue_.size(); }

  void send(Frame frame) override { sent_.push_back(std::move(frame)); }
  void fatal(ExitCode code, const std::string& message) override {
    exit_code = code;
    failure = message;
  }
  void save(json state) override { saved = std::move(state); }
  void terminate() override { terminated = true; }

  const DispatcherOptions options_;
  std::deque<TuneMessage> tune_queue_;
  std::deque<AssessMessage> assess_queue_;
  TuneWorker tune_;
  AssessWorker assess_;
  std::vector<Frame> sent_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

}  // namespace attune
