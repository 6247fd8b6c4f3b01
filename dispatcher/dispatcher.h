#pragma once
// The io thread's part: every command enters here, is numbered and journalled, has its ids
// resolved, and is put on the default or the assessor queue; every answer leaves here. Knows
// neither threads nor descriptors: the queues, the sink and the journal are its ports.
//
// What it does is a function of what accept() and on_worker() are given, in their order, which is
// that of the journal.
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "dispatcher/jobs.h"
#include "dispatcher/messages.h"
#include "dispatcher/quotas.h"
#include "dispatcher/sink.h"
#include "journal/journal.h"
#include "os/log.h"
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
  // Before all that waits, which `each` sees in its order.
  template <class Message>
  using Each = std::function<void(const Message&, std::size_t bytes)>;
  virtual void push_first(TuneMessage message, std::size_t bytes,
                          const Each<TuneMessage>& each) = 0;
  virtual void push_first(AssessMessage message, std::size_t bytes,
                          const Each<AssessMessage>& each) = 0;
  virtual std::size_t tune_size() const = 0;
  virtual std::size_t assess_size() const = 0;
};

struct DispatcherOptions {
  Capabilities capabilities;
  bool wants_reports = false;  // intermediate results go to the tuner
  bool has_assessor = false;
  bool include_intermediate = false;  // the last one of a stopped trial counts as its final result
  Limits limits = {};
};

class Dispatcher {
 public:
  Dispatcher(DispatcherOptions options, Queues& queues, Log log);
  // Where answers and records go from now on. Before anything else.
  void attach(Sink& sink, Journal& journal);

  // Takes one command. A bad one is logged and changes nothing. False: a queue is full and holds
  // the command back; give no other one until resume() returns true.
  bool accept(Frame frame);
  bool resume();
  // Passes on what is held back, beyond the limit of its queue.
  void release();
  bool blocked() const { return parked_tune_ || parked_assess_; }

  // The next message of this worker; all of a worker's in the order in which it said them.
  void on_worker(WorkerName from, WorkerMessage message);

  // Begins a snapshot of the journal: asks the workers for their state as soon as they have done
  // what they have in hand; once both have answered, the sink gets it with ours, and with what had
  // been queued by now and was not handled. One at a time. What a full queue held back is passed
  // on.
  void save();
  bool saving() const { return saving_.has_value(); }

  // Goes on exactly from what a sink was given, which the workers load too; what had been queued is
  // in the queues again. What the workers had said and io had not yet handled is to be given to
  // on_worker() before anything that they say next. Before any command; on an error neither can be
  // used any further.
  struct InFlight {
    std::deque<WorkerMessage> tune, assess;
  };
  Result<InFlight> load(const json& state);

  // The manager starts anew: what it has asked is forgotten, and counts begin again. What a worker
  // has said and nobody will hear any more is to be given to put_aside() before. Configurations
  // among it are in doubt, as all that run, and offered again.
  void put_aside(const WorkerMessage& message);
  void restart();

  // As docs/protocol.md, "Exactly once", counts them.
  std::uint64_t commands() const { return commands_; }
  std::uint64_t answers() const { return answers_; }
  // Answers that need not be kept any longer.
  std::uint64_t acknowledged() const;

  const DispatcherOptions& options() const { return options_; }

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
  // dispatcher_limits.cpp
  void refuse_trials(std::int64_t asked, std::int64_t refused);
  bool admit_job(const std::string& job, const ParameterId& parameter_id);
  bool admit_trial(TrialId trial);
  bool admit_report(TrialId trial, std::int64_t step);

  void answer(const SpaceSet& m);
  void answer(Offer& m);
  void answer(const NoMore& m);
  void answer(ParameterForJob& m);
  void answer(Decided& m);
  void answer(TunerState& m);
  void answer(AssessorState& m);
  void answer(const Passed& m);
  void answer(const Failed& m);
  void end_early(const Decided& m);
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
  Sink* sink_ = nullptr;
  Journal* journal_ = nullptr;
  Log log_;
  Jobs jobs_;
  Quotas quotas_;
  bool initialized_ = false;  // a search space has come
  std::uint64_t commands_ = 0, answers_ = 0;
  std::uint64_t acknowledged_ = 0;  // answers that the manager will not forget
  std::size_t bytes_ = 0;           // of the command in hand, in memory
  std::size_t text_bytes_ = 0;      // of its payload
  std::optional<TuneMessage> parked_tune_;
  std::optional<AssessMessage> parked_assess_;
  struct Echo {
    std::string token;
    int missing = 2;  // workers that have not passed the barrier
  };
  std::map<std::uint64_t, Echo> echoes_;  // by their barrier
  std::uint64_t barriers_ = 0;
  struct Saving {
    json state;
    std::optional<json> tuner = {}, assessor = {};                // what they answered
    json tune_said = json::array(), assess_said = json::array();  // before that
  };
  void note_in_flight(WorkerName from, const WorkerMessage& message);
  void finish_save();
  // A message of our own accord, behind what is held back.
  static constexpr std::size_t kOwnBytes = 256;
  void push_own(TuneMessage message, std::size_t bytes = kOwnBytes);
  void push_own(AssessMessage message);
  std::optional<Saving> saving_;
  std::size_t warn_at_ = 20;  // queue length, as NNI; then at each doubling
};

}  // namespace attune
