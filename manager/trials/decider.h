#pragma once
// The interface through which the trial runner asks what to try next, and which trials to stop or
// to pause. The runner knows nothing else of tuners and assessors. DaemonDecider implements it by
// talking to attuned; tests implement it with scripts.
//
// The decider answers through the Listener, from inside a call or later. One thread makes all
// calls, in both directions.
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
  std::string text;  // the NewTrialJob payload, byte for byte: the trial and TrialEnd get it
  std::string resume_job = {};       // continue this paused trial with it
  std::string checkpoint_from = {};  // start from this checkpoint
  std::string reason = {};           // for people: why it goes on, or what it starts from
};

// Which trials may start now, because the resources that they ask for are free. Both functions
// return the job id of the first one in the order of submission.
class Startable {
 public:
  virtual ~Startable() = default;
  virtual std::optional<std::string> first_pending() const = 0;
  virtual std::optional<std::string> first_paused() const = 0;
};

class Decider {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The decider knows nothing of the experiment. The listener tells it existing results and
    // trials with import() and readopt(); from now on it may call everything. A call after an
    // earlier on_ready() or on_resumed() means that the decider has lost its memory, and with it
    // all open requests.
    virtual void on_ready() = 0;
    // Comes instead of the first on_ready() when the decider continues as if it had never ended.
    // The listener names existing trials with recall(); requests that were open still are.
    virtual void on_resumed() = 0;
    virtual void on_proposal(ProposedTrial proposal) = 0;
    // The oldest open request of next() gets no more proposals. A later request may get some, if
    // trials have ended meanwhile.
    virtual void on_exhausted(const std::string& reason) = 0;
    // The decider cannot answer requests for now. They stay open; it answers them when it can.
    virtual void on_postponed(const std::string& reason) = 0;
    // The answer to a REQUEST_PARAMETER that was told with on_result(). No proposal: the tuner has
    // no further configuration for this trial.
    virtual void on_parameter(const std::string& job_id, std::int64_t index,
                              std::optional<ProposedTrial> proposal) = 0;
    virtual void on_stop(const std::string& job_id, const std::string& reason) = 0;
    // As on_stop(), for a trial that has used its whole resource: its last result is its final one,
    // and the decider knows that.
    virtual void on_used_up(const std::string& job_id, const std::string& reason) {
      on_stop(job_id, reason);
    }
    // The listener answers with on_paused() or on_pause_failed(), or the trial ends.
    virtual void on_pause(const std::string& job_id, const std::string& reason) = 0;
    virtual void on_save(const std::string& job_id) = 0;      // answered by on_checkpoint()
    virtual void on_drop(const std::string& checkpoint) = 0;  // the decider will not name it again
    virtual void on_synced(const std::string& token) = 0;
    virtual void on_warning(const std::string& text) = 0;  // for the user; the decider goes on
    // The decider died, and calls the listener no more. It may still be told what happens, but it
    // is lost unless the decider remembers().
    virtual void on_failure(Error error) = 0;
    virtual void on_closed() = 0;  // after close(); no call follows
  };

  virtual ~Decider() = default;

  virtual Result<void> start(Listener& listener) = 0;

  // Requests `count` (> 0) more proposals. `count` calls of on_proposal() follow, or fewer and one
  // of on_exhausted().
  virtual void next(int count) = 0;

  // Which trial to start next, if any.
  virtual std::optional<std::string> choose(const Startable& startable) {
    return startable.first_pending();
  }

  // The runner calls on_add() for a new trial (and again when a paused one resumes with a new
  // proposal), then on_result() and on_final(), and at last exactly one of on_complete()
  // (succeeded), on_error() (failed) and on_remove() (was stopped; `event` says by whom). A
  // customized trial has the null parameter id, and a text of the same form as that of a proposal.
  virtual void on_add(const std::string& job_id, const ProposedTrial& trial) = 0;
  // `metric_text`: the JSON of ReportMetricData. Returns the decision if the decider has one at
  // once; a later one comes through the Listener.
  virtual Action on_result(const std::string& job_id, const std::string& metric_text) = 0;
  // Replaces on_result() for a final result. The third argument is the value in the text, decoded
  // already, so that a decider need not decode it a second time.
  virtual Action on_final(const std::string& job_id, const std::string& metric_text,
                          const json& /*value*/) {
    return on_result(job_id, metric_text);
  }
  // `result`: the value that counts as its final result; null: it has none.
  virtual void on_complete(const std::string& job_id, const json& result) = 0;
  virtual void on_error(const std::string& job_id) = 0;
  virtual void on_remove(const std::string& job_id, TrialEnd::Event event) = 0;

  // The trial is paused and has this checkpoint (empty: it saved none). It has not ended: one of
  // the three ends follows some time.
  virtual void on_paused(const std::string& job_id, const std::string& checkpoint) = 0;
  virtual void on_pause_failed(const std::string& job_id) = 0;
  virtual void on_checkpoint(const std::string& job_id, const std::string& checkpoint) = 0;

  // Tells results from elsewhere or, after on_ready(), those of all trials that have ended.
  virtual void import(const std::vector<ImportData::Record>& records) = 0;
  // After on_ready(): tells which trials have not ended. Replaces on_add() for them.
  struct Resumed {
    std::string job_id;
    ProposedTrial trial;
    bool paused = false;
    std::string checkpoint;  // the newest one; empty: none
    json result = nullptr;   // a final result that counts already; null: none
  };
  virtual void readopt(const std::vector<Resumed>& trials) = 0;
  // After on_resumed(), the same for a decider that knows these trials: a daemon is told nothing.
  virtual void recall(const std::vector<Resumed>& trials) = 0;
  virtual void update_search_space(const json& search_space) = 0;

  // on_synced(token) follows once everything told before has been handled, and all decisions about
  // it have come.
  virtual void sync(const std::string& token) = 0;

  // Whether what is told after on_failure() or kill() is stored, so that a later decider of the
  // experiment hears it.
  virtual bool remembers() const { return false; }

  // So much is unsent that the runner should tell no more results for now. The listener is not
  // called when this changes back: the value can change in any event of the io loop, and whoever
  // waits for it asks again after each event.
  virtual bool congested() const = 0;

  virtual void close() = 0;  // ends in order; on_closed() or on_failure() follows
  virtual void kill() = 0;   // ends at once; no call of the listener follows
};

}  // namespace attune
