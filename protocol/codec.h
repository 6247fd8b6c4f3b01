#pragma once
// Frames <-> commands, in both directions. Pure: no I/O, no threads; every input gives a command or
// an error that says which command, what is wrong and where.
#include <string_view>

#include "base/result.h"
#include "protocol/command.h"
#include "protocol/frame.h"
#include "protocol/limits.h"

namespace attune {

// Checks the JSON and the ids of the command against `limits`.
Result<Command> decode(const Frame& frame, const Limits& limits = {});
Frame encode(const Command& command);

std::string_view code_of(const Command& command);  // "GE"
std::string_view name_of(std::string_view code);   // "RequestTrialJobs"; "" for an unknown code

// A parameter id as JSON and for messages.
json to_json(const ParameterId& id);
std::string to_text(const ParameterId& id);

std::string_view to_text(TrialEnd::Event event);  // "EARLY_STOPPED"

}  // namespace attune
