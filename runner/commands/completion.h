#pragma once
// Completion scripts for shells, from a description of the command line. options.cpp makes the
// description from the parser itself, so that a script cannot know other options than the program.
#include <string>
#include <vector>

namespace attune {

struct CompletedOption {
  std::vector<std::string> names;  // "--dir", "-e"; none: a positional argument
  std::string description;
  bool takes_value = false;
  std::string value;  // "FILE", "DIR": completed as such; "csv|jsonl": those words; else nothing
};
struct CompletedCommand {
  std::string name;
  std::string description;
  std::vector<CompletedOption> options;
};

// `shell` is bash, zsh or fish.
std::string completion_script(const std::string& shell,
                              const std::vector<CompletedCommand>& commands);

}  // namespace attune
