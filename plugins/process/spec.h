#pragma once
// How a program is started as a plug-in, and how the user writes it.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

struct ProcessPluginSpec {
  std::vector<std::string> command = {};  // argv; [0] is looked up in $PATH unless it has a slash
  double timeout = 60;                    // seconds for one call, from its first byte to its last
  // Added to the environment of this process, of which NNI_... and ATTUNE_... are left out.
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::filesystem::path directory = ".";                // where the program runs
  std::filesystem::path supervisor = "/proc/self/exe";  // the program attuned
};

// The command as one text, for messages.
std::string command_text(const ProcessPluginSpec& spec);

// Reads a command line (command_words.h), or an object:
//   {"command": [WORD, ...], "timeout": SECONDS, "environment": {NAME: TEXT}, "directory": FOLDER}
// Only `command` must be there; it may be a command line, too. Errors have a place, "timeout".
Result<ProcessPluginSpec> read_process_spec(const json& spec);

}  // namespace attune
