#pragma once
// Words of commands that a user can paste into a shell.
#include <filesystem>
#include <string>
#include <string_view>

namespace attune {

// The text as one word for a shell, in quotes if needed. It must not contain a zero byte, which no
// shell can pass on.
std::string shell_word(std::string_view text);

// The words by which a command in the current directory names an experiment: its id if it is in the
// default working directory, else --dir with its folder. `positional`: the command takes EXPERIMENT
// as its argument; else with -e.
std::string experiment_words(const std::filesystem::path& directory, const std::string& id,
                             bool positional);

}  // namespace attune
