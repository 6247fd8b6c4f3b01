#pragma once
// The seam between running and deciding: all that the trial runner knows of tuners and of early
// stopping. DaemonDecider asks attuned through its pipes, as any manager does; tests script one.
//
// What the decider wants comes through the Listener, from inside a call or later. One thread owns
// both sides.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "protocol/command.h"

namespace attune {

// A configuration to try.
struct ProposedTrial {
  ParameterId parameter_id;
  json parameters;
  std::string text;  // the NewTrialJob payload, byte for byte: what the trial and on_end() must get
  std::string resume_job = {};       // continue this paused trial with it
  std::string checkpoint_from = {};  // start from this checkpoint
};

// What may be started now: pending and paused trials whose resources are free.
class Startable {
 public:
  virtual ~Startable() = default;
  virtual std::optional<std::string> first_pending() const = 0;  // in the order of submission
  virtual std::optional<std::string> first_paused() const = 0;
};

class Decider {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // Everything else may be called from now on. It knows of nothing: results and trials that there
    // are come by import() and readopt(). Again: it has lost its memory, and requests with it.
    virtual void on_ready() = 0;
    // Instead: it goes on as if it had never ended. Trials that there are come by recall();
    // requests that were open are.
    virtual void on_resumed() = 0;
    virtual void on_proposal(ProposedTrial proposal) = 0;
    // One request of next() gets no more proposals. A later one may, if trials ended meanwhile.
    virtual void on_exhausted(const std::string& reason) = 0;
    // It cannot answer requests for now; they stay, and are answered when that is over.
    virtual void on_postponed(const std::string& reason) = 0;
    // The answer to a REQUEST_PARAMETER of on_result(); nothing: there are no more.
    virtual void on_parameter(const std::string& job_id, std::int64_t index,
                              std::optional<ProposedTrial> proposal) = 0;
    virtual void on_stop(const std::string& job_id, const std::string& reason) = 0;
    // Answered by on_paused() or on_pause_failed().
    virtual void on_pause(const std::string& job_id, const std::string& reason) = 0;
    virtual void on_save(const std::string& job_id) = 0;      // answered by on_checkpoint()
    virtual void on_drop(const std::string& checkpoint) = 0;  // no rule can need it any more
    virtual void on_synced(const std::string& token) = 0;
    virtual void on_warning(const std::string& text) = 0;  // for the user; it goes on
    virtual void on_failure(Error error) = 0;  // it died; nothing follows, nothing can be asked
    virtual void on_closed() = 0;              // after close(); nothing follows
  };

  virtual ~Decider() = default;

  virtual Result<void> start(Listener& listener) = 0;

  // Asks for `count` more proposals: as many on_proposal, or fewer and one on_exhausted.
  virtual void next(int count) = 0;

  // Which trial to start next, if any.
  virtual std::optional<std::string> choose(const Startable& startable) {
    return startable.first_pending();
  }

  // A trial runs from on_add to exactly one of on_complete (ended by itself, well), on_error (ended
  // by itself, badly) and on_remove (was stopped; `event` says by whom). Results come in between.
  // A customized trial has the null parameter id and a text like a proposal's.
  virtual void on_add(const std::string& job_id, const ProposedTrial& trial) = 0;
  // `metric_text` is what the trial reported. The decision, where the decider has one at once; a
  // later one comes through the Listener.
  virtual Action on_result(const std::string& job_id, const std::string& metric_text) = 0;
  // The same of a final result, in place of on_result. `value` is what stands in the text: it was
  // decoded where it came in, and nobody decodes it again.
  virtual Action on_final(const std::string& job_id, const std::string& metric_text,
                          const json& /*value*/) {
    return on_result(job_id, metric_text);
  }
  virtual void on_complete(const std::string& job_id) = 0;
  virtual void on_error(const std::string& job_id) = 0;
  virtual void on_remove(const std::string& job_id, TrialEnd::Event event) = 0;

  // The trial is paused, with this checkpoint (empty: it saved none); it counts as running still.
  virtual void on_paused(const std::string& job_id, const std::string& checkpoint) = 0;
  virtual void on_pause_failed(const std::string& job_id) = 0;
  virtual void on_checkpoint(const std::string& job_id, const std::string& checkpoint) = 0;

  // Results from elsewhere, or, after a restart, those of all trials that have ended.
  virtual void import(const std::vector<ImportData::Record>& records) = 0;
  // After a restart: trials that have not ended, and go on. Replaces on_add for them.
  struct Resumed {
    std::string job_id;
    ProposedTrial trial;
    bool paused = false;
    std::string checkpoint;  // with paused
    json result = nullptr;   // that counts already
  };
  virtual void readopt(const std::vector<Resumed>& trials) = 0;
  // The same where the decider knows of them (on_resumed): nothing is told.
  virtual void recall(const std::vector<Resumed>& trials) = 0;
  virtual void update_search_space(const json& search_space) = 0;

  // on_synced(token) comes once everything said before has been dealt with, and every decision
  // about it has come.
  virtual void sync(const std::string& token) = 0;

  // What it is told after its failure, or after kill(), is not lost: a later one will hear it.
  virtual bool remembers() const { return false; }

  // So much is unsent that no more results should be given for now. No call of the
  // listener says when that is over: it ends in an event of the loop, and whoever waits for it asks
  // again after each.
  virtual bool congested() const = 0;

  virtual void close() = 0;  // orderly; on_closed or on_failure follows
  virtual void kill() = 0;   // at once; nothing follows
};

}  // namespace attune
