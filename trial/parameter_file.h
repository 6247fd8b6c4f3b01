#pragma once
// What a manager wrote for a trial: parameter.cfg, and parameter_1.cfg, ... for one that asks for
// more.
#include <filesystem>
#include <functional>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace attune {

struct ProposedParameters {
  // parameter_id as the manager wrote it: an integer, a text, or null when a user added the trial.
  json id;
  json parameters;  // an object
};

// {"parameter_id": 3, "parameters": {"lr": 0.01}, ...}; other keys do not matter. Any bytes may
// come. Errors say what is wrong, not where: the caller knows the file.
Result<ProposedParameters> parse_proposal(std::string_view text);

// Errors name the file.
Result<ProposedParameters> read_proposal(const std::filesystem::path& path);

// The same for a file that may not be there yet. If it is not, calls `request` and waits for the
// file, for as long as it takes (inotify; no polling).
Result<ProposedParameters> await_proposal(const std::filesystem::path& path,
                                          const std::function<Result<void>()>& request);

}  // namespace attune
