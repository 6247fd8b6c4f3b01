// attuned: builds the world from the command line and runs it.
#include <cstdio>
#include <exception>
#include <random>
#include <string_view>

#include "daemon/program.h"
#include "os/standard_output.h"
#include "plugins/process/supervisor.h"

int main(int argc, char** argv) {
  // Before anything else: it must start quickly, and have no threads.
  if (argc > 1 && argv[1] == std::string_view(attune::kSupervisorCommand))
    return attune::supervise_plugin(argv + 2);
  try {
    const int code =
        attune::run_daemon(argc, argv, {attune::builtin_tuners(), attune::builtin_assessors()},
                           std::random_device{}());
    return attune::finish_output(code, "attuned");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "attuned: %s\n", error.what());
    return 1;
  }
}
