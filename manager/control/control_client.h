#pragma once
// Sends a request to the manager of an experiment through its control socket, and waits for the
// answer. For commands.
#include <expected>
#include <filesystem>
#include <string>

#include "base/json.h"
#include "manager/control/control_request.h"

namespace attune {

struct ControlError {
  bool no_manager = false;  // no manager runs; the message names attune resume
  std::string message;
};

// The manager's answer without the member "ok". Blocks for at most `timeout_seconds`. Errors: no
// manager runs, it runs neither as the owner of the folder nor as a user who is trusted
// (os/trust.h), it does not answer, or it answers with "ok": false.
std::expected<json, ControlError> ask_manager(const std::filesystem::path& directory,
                                              const ControlRequest& request,
                                              double timeout_seconds = 30);

}  // namespace attune
