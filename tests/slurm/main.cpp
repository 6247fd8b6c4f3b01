// Skipped, with what is missing, where there is no Slurm.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/slurm/slurm_world.h"

int main(int count, char** arguments) {
  constexpr int kSkipped = 77;  // SKIP_RETURN_CODE in tests/CMakeLists.txt
  if (const auto missing = attune::slurm_is_missing()) {
    std::cout << "skipped: " << *missing << std::endl;
    return kSkipped;
  }
  return Catch::Session().run(count, arguments);
}
