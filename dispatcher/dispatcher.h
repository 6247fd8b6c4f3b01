#pragma once
// The io thread's part of the dispatcher. accept() takes each command of the manager: it counts the
// command, appends it to the journal, resolves its ids, and puts messages on the tuner's or the
// assessor's queue. on_worker() takes each message of a worker, and sends the answer that follows
// from it. The class uses neither threads nor descriptors: it reaches them through Queues, Sink and
// Journal.
//
// What it does is a function of the calls of accept() and on_worker(), in their order, which is the
// order of the records in the journal. replay.h relies on this.
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "dispatcher/jobs.h"
#include "dispatcher/messages.h"
#include "dispatcher/quotas.h"
#include "dispatcher/revision.h"
#include "dispatcher/sink.h"
#include "journal/journal.h"
#include "os/log.h"
#include "protocol/capabilities.h"

namespace attune {

// The two queues as the io thread sees them. try_push() returns false, and leaves the message as it
// is, if the queue is full. It does not wake the worker: whoever calls accept() or resume() does so
// afterwards, once for many messages.
class Queues {
 public:
  virtual ~Queues() = default;
  virtual bool try_push(TuneMessage& message, std::size_t bytes) = 0;
  virtual bool try_push(AssessMessage& message, std::size_t bytes) = 0;
  virtual void push_over_limit(TuneMessage message, std::size_t bytes) = 0;
  virtual void push_over_limit(AssessMessage message, std::size_t bytes) = 0;
  // Puts the message in front of all that wait, and shows those to `each`, in their order.
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
  bool wants_reports = false;  // the tuner judges intermediate results
  bool has_assessor = false;
  bool include_intermediate = false;  // a stopped trial's last intermediate result is its final one
  std::int64_t revision = kRevision;  // of the answers
  Limits limits = {};
};

class Dispatcher {
 public:
  Dispatcher(DispatcherOptions options, Queues& queues, Log log);
  // Sets where answers and records go from now on. Must be called before anything else.
  void attach(Sink& sink, Journal& journal);

  // Takes one command of the manager. A command that cannot be decoded is counted, journalled and
  // logged, and has no other effect; only a bad first Initialize is fatal. False: a queue is full,
  // and the command's message is held back here. Then accept() must not be called until resume()
  // has returned true.
  bool accept(Frame frame);
  bool resume();  // tries again to queue what is held back; whether nothing is held back any more
  // Queues what is held back, beyond the limit of its queue.
  void release();
  bool blocked() const { return parked_tune_ || parked_assess_; }

  // Takes a worker's next message. The messages of one worker must come in the order in which it
  // produced them.
  void on_worker(WorkerName from, WorkerMessage message);

  // Begins a snapshot: asks both workers for their states, which they answer as soon as they have
  // handled the message (or the piece of a request) in hand. When both have answered, Sink::save()
  // gets their states, the state of the dispatcher at this call, the messages that waited in the
  // queues at this call, and what the workers had said before they saved their states. Queues what
  // is held back. Must not be called while saving().
  void save();
  bool saving() const { return saving_.has_value(); }

  // Restores what Sink::save() was given, and fills the queues again; the workers load their parts
  // of the same state. Afterwards everything continues exactly as it would have. Returns the
  // messages that the workers had said and io had not handled: the caller must give them to
  // on_worker() before anything that the workers say next. Must be called before any command. After
  // an error neither the dispatcher nor its queues can be used any further.
  struct InFlight {
    std::deque<WorkerMessage> tune, assess;
  };
  Result<InFlight> load(const json& state);

  // For a manager that starts anew. First put_aside() gets each message of a worker that will not
  // be answered any more; it keeps only what concerns a final result (include_intermediate). Then
  // restart() forgets what the manager has asked for, and both counts begin again. Configurations
  // among the messages are in doubt, like those of all running trials, and are offered again
  // (Session::restart).
  void put_aside(const WorkerMessage& message);
  void restart();

  // As docs/protocol.md, "Exactly once", counts them.
  std::uint64_t commands() const { return commands_; }
  std::uint64_t answers() const { return answers_; }
  // The number of answers that need not be kept any longer. Without the capability `sync`: all.
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
  void route(const Other& c);  // a command that only the daemon sends: logged and ignored

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
  void answer(const Noted&) {}  // journalled, which is all
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
  std::size_t bytes_ = 0;           // of memory that the command in hand takes
  std::size_t text_bytes_ = 0;      // of its payload
  std::optional<TuneMessage> parked_tune_;
  std::optional<AssessMessage> parked_assess_;
  struct Echo {
    std::string token;
    int missing = 2;        // workers that have not passed the barrier
    bool followed = false;  // io has queued a message of its own behind the barrier
  };
  std::map<std::uint64_t, Echo> echoes_;  // by their barrier
  std::uint64_t barriers_ = 0;
  struct Saving {
    json state;
    std::optional<json> tuner = {}, assessor = {};                // the workers' states, once known
    json tune_said = json::array(), assess_said = json::array();  // what they said before these
  };
  void note_in_flight(WorkerName from, const WorkerMessage& message);
  void finish_save();
  // Queues a message behind what is held back, and beyond the limit of the queue.
  static constexpr std::size_t kOwnBytes = 256;
  void push_own(TuneMessage message, std::size_t bytes = kOwnBytes);
  void push_own(AssessMessage message);
  void note_follower();
  std::optional<Saving> saving_;
  std::size_t warn_at_ = 20;  // queue length, as NNI; then at each doubling
};

}  // namespace attune
