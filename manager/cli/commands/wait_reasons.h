#pragma once
#include <vector>

#include "manager/store/store_reader.h"

namespace attune {

// Puts into `reason` of each pending trial why it waits. Its manager knows; is there none, that is
// why.
void fill_wait_reasons(const StoredExperiment& experiment, std::vector<TrialRecord>& trials);

}  // namespace attune
