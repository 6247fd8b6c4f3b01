#pragma once
// The interface of everything that stops trials early because of their own intermediate results.
// One thread at a time calls an assessor. It is deterministic, as tuners are.
#include <memory>
#include <span>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"

namespace attune {

class Assessor {
 public:
  virtual ~Assessor() = default;

  // Judges a trial after a new report. `reports`: all reports of the trial, without a gap: element
  // k has step k, and the last is new. A step that was reported again appears with its new value;
  // then the span has not grown. Metrics are as reported, and may be not finite. The decision names
  // this trial; the action is keep_going, or stop or pause with a reason. After a pause the trial
  // continues when the tuner has nothing new to start, and is judged again from its next report on.
  virtual Decision assess(TrialId trial, std::span<const Report> reports) = 0;

  // Called once for a trial that had reports, whatever its end.
  virtual void trial_end(TrialId trial, End end) = 0;

  virtual json save() const = 0;
  virtual Result<void> load(const json& state) = 0;  // all or nothing

  // As the functions of Tuner. A call of which the notes have nothing was answered keep_going.
  virtual std::string take_notes() { return {}; }
  virtual void replay_notes(const std::string& /*notes*/) {}
  virtual void end_replay() {}
};

}  // namespace attune
