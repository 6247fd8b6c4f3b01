#pragma once
// Carries out the requests of the control socket (attune stop, kill, add, import, update, status)
// in a running manager.
#include "base/json.h"
#include "base/result.h"
#include "manager/control/control_request.h"
#include "manager/experiment/experiment.h"
#include "manager/store/store.h"
#include "manager/trials/trial_runner.h"

namespace attune {

// Lives on the manager's thread. The objects that it refers to outlive it.
class ControlHandler {
 public:
  // `experiment`: the present settings. An update changes them here and in the store, from where a
  // resume reads them.
  ControlHandler(TrialRunner& runner, Experiment& experiment, Store& store, const Clock& clock)
      : runner_(runner), experiment_(experiment), store_(store), clock_(clock) {}

  // Carries out one request, commits, and returns the answer (ControlServer::Handler). Error: the
  // request is wrong or cannot be carried out now, or what it changed cannot be committed.
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
