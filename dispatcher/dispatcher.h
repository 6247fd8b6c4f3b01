#pragma once
// The io thread's part: every command enters here, gets its ingress number, is journalled, has its
// ids resolved, and is put on the default or the assessor queue; every answer leaves here. Knows
// neither threads nor descriptors: the queues, the sink and the journal are its ports.
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/log.h"
#include "dispatcher/jobs.h"
#include "dispatcher/journal.h"
#include "dispatcher/messages.h"
#include "dispatcher/sink.h"
#include "protocol/capabilities.h"

namespace attune {

// The two queues as the io thread sees them. Refused messages stay untouched; whoever gives the
// dispatcher commands wakes the workers afterwards.
class Queues {
 public:
  virtual ~Queues() = default;
  virtual bool try_push(TuneMessage& message, std::size_t bytes) = 0;
  virtual bool try_push(AssessMessage& message, std::size_t bytes) = 0;
  virtual void push_over_limit(TuneMessage message, std::size_t bytes) = 0;
  virtual void push_over_limit(AssessMessage message, std::size_t bytes) = 0;
  virtual std::size_t tune_size() const = 0;
  virtual std::size_t assess_size() const = 0;
};

struct DispatcherOptions {
  Capabilities capabilities;
  bool wants_reports = false;  // intermediate results go to the tuner
  bool has_assessor = false;
  bool include_intermediate = false;   // the last one of a stopped trial counts as its final result
  std::int64_t max_request = 100'000;  // trials of one request
};

class Dispatcher {
 public:
  // `jobs` are those to go on from, after a resume.
  Dispatcher(DispatcherOptions options, Jobs jobs, Queues& queues, Sink& sink, Journal& journal,
             Log log);

  // Takes one command. A bad one is logged and changes nothing. False: a queue is full and holds
  // the command back; give no other one until resume() returns true.
  bool accept(Frame frame);
  bool resume();
  bool blocked() const { return parked_tune_ || parked_assess_; }

  // The next message of this worker; all of a worker's in the order in which it said them.
  void on_worker(WorkerName from, WorkerMessage message);

  // Asks the workers for their state; once both have answered, the sink gets it with ours, as all
  // were after the same command. Replaces a save under way. What a full queue held back is passed
  // on. In two steps at the end, when the assessor finishes first: it may still have something for
  // the tuner.
  void save();
  void begin_save();
  void end_save();
  // Whether there is something that the last save does not have.
  bool changed() const { return changed_; }

 private:
  void route(const Initialize& c);
  void route(const RequestTrialJobs& c);
  void route(ReportMetricData& c);
  void route(const UpdateSearchSpace& c);
  void route(ImportData& c);
  void route(AddCustomizedTrialJob& c);
  void route(TrialEnd& c);
  void route(const Terminate& c);
  void route(const Ping& c);
  void route(const CheckpointSaved& c);
  void route(const Received& c);
  template <class Other>
  void route(const Other& c);  // not for the daemon

  void to_tuner(TuneMessage message);
  void to_assessor(AssessMessage message);
  void warn_if_long();

  void answer(const SpaceSet& m);
  void answer(Offer& m);
  void answer(const NoMore& m);
  void answer(ParameterForJob& m);
  void answer(Decided& m);
  void answer(TunerState& m);
  void answer(AssessorState& m);
  void answer(const Passed& m);
  void answer(const Failed& m);
  void answer(const Finished&) {}
  void carry_out(const Decision& decision);
  void end_trials(const TrialsEnded& ended);
  // dispatcher_pauses.cpp
  void on_pause(const TrialEnd& c);
  bool waits_for_checkpoint(Offer& m);
  void remember(TrialId trial, const std::string& checkpoint);
  void release_offers(TrialId trial);
  void send(const Command& command);

  const DispatcherOptions options_;
  Queues& queues_;
  Sink& sink_;
  Journal& journal_;
  Log log_;
  Jobs jobs_;
  std::uint64_t ingress_ = 0;       // commands so far
  std::uint64_t acknowledged_ = 0;  // answers that the manager will not forget
  std::size_t bytes_ = 0;           // of the command in hand
  std::optional<TuneMessage> parked_tune_;
  std::optional<AssessMessage> parked_assess_;
  struct Echo {
    std::string token;
    int missing = 2;  // workers that have not passed the barrier
  };
  std::unordered_map<std::uint64_t, Echo> echoes_;
  struct Saving {
    json jobs;
    std::optional<json> tuner, assessor;
  };
  void finish_save();
  void release();
  Saving saving_;
  std::uint64_t saves_ = 0;  // the number of the newest
  bool changed_ = false;
  std::size_t warn_at_ = 20;  // queue length, as NNI; then at each doubling
};

}  // namespace attune
