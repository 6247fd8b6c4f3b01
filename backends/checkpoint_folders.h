#pragma once
// Where a trial's folder holds what the trial saves. The shim makes these directories anew for each
// attempt. The manager copies `current`, and removes all of a trial that will not start again.
#include <string>

namespace attune {

struct CheckpointFolders {
  explicit CheckpointFolders(const std::string& trial)  // the path of the trial's folder
      : current(trial + "/checkpoint"),
        old(trial + "/.attune-checkpoint-old"),
        draft(trial + "/.attune-checkpoint-new") {}

  std::string current;  // what the trial saves into: whole, or not there
  std::string old;      // what an earlier attempt has left, while it is removed
  std::string draft;    // the copy of the checkpoint to start from, until it is complete
};

}  // namespace attune
