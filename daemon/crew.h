#pragma once
// What runs inside of the server, made as the configuration asks, and gone on from a checkpoint
// when there is a usable one.
#include "assessors/registry.h"
#include "daemon/configuration.h"
#include "dispatcher/assess_worker.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/tune_worker.h"
#include "tuners/registry.h"

namespace attune {

struct Algorithms {  // there are
  TunerRegistry tuners;
  AssessorRegistry assessors;
};

struct Crew {
  DispatcherOptions options;
  Jobs jobs;
  TuneWorker tune;
  AssessWorker assess;
  json identity;  // who wrote a checkpoint: version, tuner, assessor, seed
};

// Errors: the tuner or the assessor cannot be made so. With configuration.resume the checkpoint of
// another tuner, one that is damaged or none at all is no error: the log says so, and what is known
// comes through the manager's ImportData.
Result<Crew> make_crew(const Configuration& configuration, const Algorithms& algorithms,
                       const Log& log);

}  // namespace attune
