#pragma once
// Makes what runs inside of the server (the workers and the dispatcher) from the configuration.
#include <memory>

#include "assessors/registry.h"
#include "daemon/configuration.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/threads.h"
#include "os/clock.h"
#include "tuners/registry.h"

namespace attune {

struct Algorithms {  // all that this program has
  TunerRegistry tuners;
  AssessorRegistry assessors;
};

struct Crew {
  std::unique_ptr<WorkerThreads> workers;  // not started
  std::unique_ptr<Dispatcher> dispatcher;  // not attached
  json header;                             // of the journal: all settings that shape the answers
};

// Opens the plug-ins of the configuration, in their order, and adds what they have. Their code
// runs. Errors name the plug-in. `log` gets what they have to say later. The classes of the user
// come last.
Result<void> add_plugins(const Configuration& configuration, Algorithms& algorithms,
                         const Log& log);

// Errors: the tuner or the assessor cannot be made with these arguments. `clock` must outlive the
// crew.
Result<Crew> make_crew(const Configuration& configuration, const Algorithms& algorithms,
                       const Clock& clock, const Log& log);

}  // namespace attune
