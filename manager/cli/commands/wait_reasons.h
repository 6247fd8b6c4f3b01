#pragma once
#include <vector>

#include "base/json.h"
#include "manager/store/store_reader.h"

namespace attune {

// Asks the manager why each pending trial waits: {job id: reason}. Empty: no manager runs, or it is
// busy.
json ask_wait_reasons(const StoredExperiment& experiment);

// Puts why they wait into the `reason` of pending trials. If no manager runs, the reason says so.
void fill_wait_reasons(const StoredExperiment& experiment, const json& reasons,
                       std::vector<TrialRecord>& trials);
// Asks first, if one of the trials waits.
void fill_wait_reasons(const StoredExperiment& experiment, std::vector<TrialRecord>& trials);

}  // namespace attune
