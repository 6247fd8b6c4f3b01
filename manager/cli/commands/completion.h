#pragma once
// Completion scripts for shells, from a description of the command line. What an option takes says
// how its value is completed: FILE, DIR, words "csv|jsonl", and EXPERIMENT and TRIAL, which the
// script asks `attune completion-words` for.
#include <string>
#include <vector>

#include "base/command_description.h"

namespace attune {

// `shell` is bash, zsh or fish.
std::string completion_script(const std::string& shell,
                              const std::vector<DescribedCommand>& commands);

}  // namespace attune
