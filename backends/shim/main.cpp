// attune-shim: runs one attempt of a trial, and outlives the manager. See backends/report/spool.h.
#include <stdio.h>
#include <unistd.h>

#include "backends/shim/options.h"
#include "backends/shim/supervisor.h"

int main(int argc, char** argv) {
  attune::shim::Options options;
  if (!attune::shim::parse(argc, argv, options)) {
    ::fputs("attune-shim is started by attune, not by hand\n", stderr);
    return 2;
  }
  const bool good = attune::shim::Supervisor(options).run();
  // Everything is written. A usual exit would run the leak check of the address sanitizer, which
  // hangs if a SIGCONT comes in the middle of it; a manager sends SIGCONT with each signal.
  ::_exit(good ? 0 : 1);
}
