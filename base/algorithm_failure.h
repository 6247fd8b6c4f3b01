#pragma once
// An algorithm that is not part of this program (a plug-in) has failed, and nothing repairs it: it
// has crashed twice at the same call, or has answered what nobody can use. The message names the
// plug-in and the call. The interfaces of tuners and assessors have no place for an error in an
// answer, so the guards of plug-ins throw this; WorkerThreads catches it.
#include <stdexcept>

namespace attune {

class AlgorithmFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace attune
