#pragma once
// Makes completion scripts for shells from a description of the command line. The type of an option
// decides how its value is completed: FILE, DIR, a list of words such as "csv|jsonl", or EXPERIMENT
// and TRIAL, for which the script asks `attune completion-words`.
#include <string>
#include <vector>

#include "base/command_description.h"

namespace attune {

// `shell` is bash, zsh or fish.
std::string completion_script(const std::string& shell,
                              const std::vector<DescribedCommand>& commands);

}  // namespace attune
