// attuned: builds the world from the command line and runs it.
#include <cstdio>
#include <exception>
#include <random>

#include "daemon/program.h"
#include "os/standard_output.h"

int main(int argc, char** argv) {
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
