#pragma once
// Commands that a user can paste into a shell.
#include <filesystem>
#include <string>
#include <string_view>

namespace attune {

// One word, quoted when it must be. A byte 0 is nothing that a shell can pass on.
std::string shell_word(std::string_view text);

// How a command that is started here names an experiment: by its id when it lies in the default
// working directory, else by its folder. `positional`: EXPERIMENT is the argument of the command;
// else it takes -e.
std::string experiment_words(const std::filesystem::path& directory, const std::string& id,
                             bool positional);

}  // namespace attune
