#pragma once
#include <vector>

#include "manager/store/store_reader.h"

namespace attune {

// Asks the manager why each pending trial waits, and puts that into its `reason`. If no manager
// runs, the reason says so.
void fill_wait_reasons(const StoredExperiment& experiment, std::vector<TrialRecord>& trials);

}  // namespace attune
