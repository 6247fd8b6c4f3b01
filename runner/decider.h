#pragma once
// The seam between running and deciding: all that the experiment loop knows of tuners and of early
// stopping. DaemonDecider asks attuned through its pipes, as any manager does; tests script one.
//
// Everything is asynchronous: what the decider wants comes through the Listener, from inside a call
// or later. One thread owns both sides.
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "protocol/command.h"

namespace attune {

// A configuration to try.
struct ProposedTrial {
  ParameterId parameter_id;
  json parameters;
  std::string text;  // the NewTrialJob payload, byte for byte: what the trial and on_end() must get
};

class Decider {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_ready() = 0;  // once; next() may be called from now on
    virtual void on_proposal(ProposedTrial proposal) = 0;
    // One request of next() gets no more proposals. A later one may, if trials ended meanwhile.
    virtual void on_exhausted(const std::string& reason) = 0;
    virtual void on_stop(const std::string& job_id, const std::string& reason) = 0;
    virtual void on_room() = 0;                // congested() was true and no longer is
    virtual void on_failure(Error error) = 0;  // it died; nothing follows, nothing can be asked
    virtual void on_closed() = 0;              // after close(); nothing follows
  };

  virtual ~Decider() = default;

  virtual Result<void> start(Listener& listener) = 0;

  // Asks for `count` more proposals: as many on_proposal, or fewer and one on_exhausted.
  virtual void next(int count) = 0;

  // A trial runs from on_add to exactly one of on_complete (ended by itself, well), on_error (ended
  // by itself, badly) and on_remove (was stopped; `event` says by whom). Results come in between.
  virtual void on_add(const std::string& job_id, const ProposedTrial& trial) = 0;
  virtual void on_result(const std::string& job_id, const std::string& metric_text) = 0;
  virtual void on_complete(const std::string& job_id) = 0;
  virtual void on_error(const std::string& job_id) = 0;
  virtual void on_remove(const std::string& job_id, TrialEnd::Event event) = 0;

  // So much is unsent that no more results should be given for now; on_room follows.
  virtual bool congested() const = 0;

  virtual void close() = 0;  // orderly; on_closed or on_failure follows
  virtual void kill() = 0;   // at once; nothing follows
};

}  // namespace attune
