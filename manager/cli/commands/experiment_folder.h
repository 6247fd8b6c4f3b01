#pragma once
// Deletes the folder of an experiment, for attune delete.
#include <filesystem>

#include "base/result.h"
#include "manager/store/store_reader.h"

namespace attune {

// Checks that the folder may be deleted: either it no longer exists, or only its owner can change
// it, its link leads to this store, no other experiment has its store in it, and no trial or
// coordinator of the experiment runs. Errors name the obstacle and the cure.
Result<void> check_deletable(StoreReader& reader, const StoredExperiment& experiment);

// Removes the files of attune, then the folder, unless other files are in it. Returns whether the
// folder was removed. Symbolic links are removed, never followed. Call check_deletable() before.
Result<bool> remove_folder(const StoredExperiment& experiment);

}  // namespace attune
