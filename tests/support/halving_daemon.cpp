// attuned with the tuner Halving added, which needs a manager that pauses.
#include "daemon/program.h"
#include "tests/support/halving_tuner.h"

int main(int argc, char** argv) {
  attune::Algorithms algorithms{attune::builtin_tuners(), attune::builtin_assessors()};
  algorithms.tuners.add(attune::halving_entry);
  return attune::run_daemon(argc, argv, algorithms, /*entropy=*/1);
}
