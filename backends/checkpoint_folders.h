#pragma once
// Where the files are that a trial has saved, in its folder: see backends/trial_folder.h.
#include <string>

namespace attune {

struct CheckpointFolders {
  explicit CheckpointFolders(const std::string& trial)
      : current(trial + "/checkpoint"),
        old(trial + "/.attune-checkpoint-old"),
        draft(trial + "/.attune-checkpoint-new") {}

  std::string current;  // what the trial saves into: whole, or not there
  std::string old;      // what an earlier attempt has left, while it is removed
  std::string draft;    // the copy of the checkpoint to start from, until it is complete
};

}  // namespace attune
