#pragma once
// Asks the manager of an experiment for something, through its control socket.
#include <expected>
#include <filesystem>
#include <string>

#include "base/json.h"
#include "manager/control/control_request.h"

namespace attune {

struct ControlError {
  bool no_manager = false;  // none runs; the message names attune resume
  std::string message;
};

// The manager's answer, without "ok". Waits up to `timeout_seconds` for each step.
std::expected<json, ControlError> ask_manager(const std::filesystem::path& directory,
                                              const ControlRequest& request,
                                              double timeout_seconds = 30);

}  // namespace attune
