#pragma once
// The command line of attune-katib.
#include <expected>
#include <string>

#include "base/usage.h"
#include "os/log.h"

namespace attune::katib {

struct Options {
  bool list = false;  // print the algorithms instead of serving
  // Only this machine can call, unless the address is given: nobody has to prove who he is.
  std::string listen = "127.0.0.1:6789";
  std::string folder = {};  // of the experiments' memories; empty: none
  LogLevel log_level = LogLevel::info;
};

// Usage: print that instead of running.
std::expected<Options, Usage> read_options(int argc, const char* const* argv);

}  // namespace attune::katib
