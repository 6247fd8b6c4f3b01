#pragma once
// The seam for everything that stops trials early by their own intermediate results.
// Touched by one thread at a time; deterministic, as tuners are.
#include <memory>
#include <span>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"

namespace attune {

class Assessor {
 public:
  virtual ~Assessor() = default;

  // `reports` are all of the trial's reports without a gap: element k has step k, the last is new.
  // A step that was reported again appears with its new value: then the span has not grown.
  // The decision names this trial, with Action::keep_going or Action::stop and the reason.
  // Reports carry the metrics as reported; a value that is not finite is possible.
  virtual Decision assess(TrialId trial, std::span<const Report> reports) = 0;

  // Called once for a trial that had reports, whatever its end.
  virtual void trial_end(TrialId trial, End end) = 0;

  virtual json save() const = 0;
  virtual Result<void> load(const json& state) = 0;  // all or nothing
};

}  // namespace attune
