#pragma once
// The folder of an experiment that is to be deleted.
#include <filesystem>

#include "base/result.h"
#include "manager/store/store_reader.h"

namespace attune {

// Whether it may be deleted: it is gone, or it is ours, is where the store says, leads to that
// store, and no process of the experiment lives. Errors say what is in the way and what to do.
Result<void> check_deletable(StoreReader& reader, const StoredExperiment& experiment);

// Removes what attune has put there, then the folder, unless something else is in it: whether it
// has gone. Symbolic links are removed, never followed. After check_deletable().
Result<bool> remove_folder(const StoredExperiment& experiment);

}  // namespace attune
