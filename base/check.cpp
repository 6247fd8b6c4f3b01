#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace attune::detail {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "attune: %s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace attune::detail
