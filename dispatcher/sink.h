#pragma once
// Takes the dispatcher's answers. The daemon's server implements it over descriptors, tests over a
// vector.
#include <string>

#include "base/json.h"
#include "protocol/frame.h"

namespace attune {

// How the daemon exits. docs/protocol.md says what a user should do about each.
enum ExitCode : int {
  kExitOk = 0,             // Terminate, end of input, SIGTERM
  kExitInternal = 1,       // a worker failed
  kExitConfiguration = 2,  // arguments, experiment parameters, descriptors, or the first space
  kExitProtocol = 3,       // the command stream cannot be read any further
};

// Called on the io thread only.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void send(Frame frame) = 0;
  // The daemon must stop, in an orderly way, with this code. Of several calls the first code
  // counts.
  virtual void fatal(ExitCode code, const std::string& message) = 0;
  // The result of Dispatcher::save(): the whole state, which a later dispatcher's load() takes. Its
  // members "tuner" and "assessor" are for the load() of the two workers.
  virtual void save(json state) = 0;
  // The manager sent Terminate.
  virtual void terminate() = 0;
};

}  // namespace attune
