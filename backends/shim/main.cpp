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
  // Everything is written. The leak check of the address sanitizer, at the end of a usual exit,
  // hangs when a SIGCONT comes in the middle of it, as a manager sends it with every word.
  ::_exit(good ? 0 : 1);
}
