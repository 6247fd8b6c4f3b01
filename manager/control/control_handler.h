#pragma once
// What a running manager does when `attune stop|kill|add|import|update|status` asks it to.
#include "base/json.h"
#include "base/result.h"
#include "manager/control/control_request.h"
#include "manager/experiment/experiment.h"
#include "manager/store/store.h"
#include "manager/trials/trial_runner.h"

namespace attune {

// Everything that it refers to outlives it. On the manager's thread.
class ControlHandler {
 public:
  // `experiment` is what a later resume starts from: updates go into it, and into the store.
  ControlHandler(TrialRunner& runner, Experiment& experiment, Store& store, const Clock& clock)
      : runner_(runner), experiment_(experiment), store_(store), clock_(clock) {}

  Result<json> handle(const json& request);

 private:
  Result<json> carry_out(const StopRequest& request);
  Result<json> carry_out(const KillRequest& request);
  Result<json> carry_out(const AddRequest& request);
  Result<json> carry_out(const ImportRequest& request);
  Result<json> carry_out(const UpdateRequest& request);
  Result<json> carry_out(const StatusRequest& request);

  TrialRunner& runner_;
  Experiment& experiment_;
  Store& store_;
  const Clock& clock_;
};

}  // namespace attune
