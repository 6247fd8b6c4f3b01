#pragma once
// The gRPC server: Suggestion, EarlyStopping and grpc.health.v1.Health.
#include <memory>
#include <string>

#include "assessors/registry.h"
#include "base/result.h"
#include "katib/options.h"
#include "os/log.h"
#include "tuners/registry.h"

namespace attune::katib {

class Server {
 public:
  virtual ~Server() = default;
  // Ends when the calls that run are answered, or after a few seconds.
  virtual void stop() = 0;
  // HOST:PORT, with the port that the system has chosen for port 0.
  virtual std::string address() const = 0;
};

// Serves at once, in threads of its own. The registries must outlive the server. Errors: the
// address cannot be used.
Result<std::unique_ptr<Server>> serve(const Options& options, const TunerRegistry& tuners,
                                      const AssessorRegistry& assessors, const Log& log);

}  // namespace attune::katib
