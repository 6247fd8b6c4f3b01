#pragma once
// Asks the manager of an experiment, and words the failures for users.
#include <expected>
#include <string>

#include "base/json.h"
#include "manager/control/control_client.h"
#include "manager/store/store_reader.h"

namespace attune {

// The manager's answer (ask_manager). If no manager runs, the message names the attune resume that
// starts one. `options`: options of attune resume that do the same as the request; the message
// names them, too.
std::expected<json, ControlError> manager_answer(const StoredExperiment& experiment,
                                                 const ControlRequest& request,
                                                 const std::string& options = "");

// The options of attune resume that do the same as `request`; without the search space.
std::string resume_options(const UpdateRequest& request);

}  // namespace attune
