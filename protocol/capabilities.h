#pragma once
// What a manager says that it understands beyond NNI's protocol: "capabilities": ["sync", ...] at
// the top of the experiment parameters. A plain NNI manager lists none and gets plain NNI.
#include "base/json.h"

namespace attune {

struct Capabilities {
  bool sync = false;  // Ping with a token is answered by Pong; the manager can resume exactly
  bool pause = false;
  bool checkpoint = false;
  bool reason = false;  // NewTrialJob, KillTrialJob and NoMoreTrialJobs carry a reason
  bool error = false;   // ER before an exit that the manager did not ask for
};

// Unknown names are ignored: they are for newer daemons.
inline Capabilities parse_capabilities(const json& experiment) {
  Capabilities result;
  const auto list = experiment.find("capabilities");
  if (list == experiment.end() || !list->is_array()) return result;
  for (const auto& item : *list) {
    if (item == "sync") result.sync = true;
    if (item == "pause") result.pause = true;
    if (item == "checkpoint") result.checkpoint = true;
    if (item == "reason") result.reason = true;
    if (item == "error") result.error = true;
  }
  return result;
}

}  // namespace attune
