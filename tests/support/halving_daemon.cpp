// attuned with the tuners of tests added: Halving, which needs a manager that pauses, and Gated.
#include "daemon/program.h"
#include "tests/support/gated_tuner.h"
#include "tests/support/halving_tuner.h"

int main(int argc, char** argv) {
  attune::Algorithms algorithms{attune::builtin_tuners(), attune::builtin_assessors()};
  algorithms.tuners.add(attune::halving_entry);
  algorithms.tuners.add(attune::gated_entry);
  return attune::run_daemon(argc, argv, algorithms, /*entropy=*/1);
}
