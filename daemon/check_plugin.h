#pragma once
// attuned check-plugin: whether the algorithms of plug-ins do what every algorithm must do.
#include <cstdio>
#include <string>
#include <vector>

#include "base/json.h"

namespace attune {

struct CheckPlugin {
  std::vector<std::string> plugins;  // as --plugin takes them
  std::string class_args = {};       // JSON, of each algorithm; empty: none
  bool quick = false;                // fewer turns and search spaces
};

// Prints a line for each check to `out`, and what cannot be opened to `errors`. The exit code: 0,
// 1 if a check has failed, 2 if a plug-in cannot be opened or the arguments are no JSON.
int run_check_plugin(const CheckPlugin& command, std::FILE* out, std::FILE* errors);

}  // namespace attune
