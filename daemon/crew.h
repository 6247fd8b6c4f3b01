#pragma once
// What runs inside of the server, made as the configuration asks.
#include <memory>

#include "assessors/registry.h"
#include "daemon/configuration.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/threads.h"
#include "os/clock.h"
#include "tuners/registry.h"

namespace attune {

struct Algorithms {  // there are
  TunerRegistry tuners;
  AssessorRegistry assessors;
};

struct Crew {
  std::unique_ptr<WorkerThreads> workers;  // not started
  std::unique_ptr<Dispatcher> dispatcher;  // not attached
  json header;  // of the journal: everything that was told and shapes the answers
};

// Errors: the tuner or the assessor cannot be made so. `clock` lives longer.
Result<Crew> make_crew(const Configuration& configuration, const Algorithms& algorithms,
                       const Clock& clock, const Log& log);

}  // namespace attune
