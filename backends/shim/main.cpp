// attune-shim: runs one attempt of a trial, and outlives the manager. See backends/spool.h.
#include <stdio.h>

#include "backends/shim/options.h"
#include "backends/shim/supervisor.h"

int main(int argc, char** argv) {
  attune::shim::Options options;
  if (!attune::shim::parse(argc, argv, options)) {
    ::fputs("attune-shim is started by attune, not by hand\n", stderr);
    return 2;
  }
  return attune::shim::Supervisor(options).run() ? 0 : 1;
}
