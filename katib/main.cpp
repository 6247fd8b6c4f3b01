// attune-katib: builds the world and runs it.
#include <cstdio>
#include <exception>

#include "katib/program.h"
#include "os/standard_output.h"

int main(int argc, char** argv) {
  try {
    const int code =
        attune::katib::run(argc, argv, attune::builtin_tuners(), attune::builtin_assessors());
    return attune::finish_output(code, "attune-katib");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "attune-katib: %s\n", error.what());
    return 1;
  }
}
