#pragma once
// How a guard names its plug-in in messages, and how it repeats a call that has failed.
#include <string>
#include <type_traits>
#include <utility>

#include "base/algorithm_failure.h"
#include "base/result.h"
#include "os/log.h"

namespace attune {

class Guard {
 public:
  // `owner`: "plug-in ./a.so: tuner Hill".
  Guard(std::string owner, Log log) : owner_(std::move(owner)), log_(std::move(log)) {}

  Error error(const char* call, const std::string& what) const {
    return Error{owner_ + ": " + call + ": " + what};
  }
  [[noreturn]] void give_up(const char* call, const std::string& what) const {
    throw AlgorithmFailure(error(call, what).message);
  }
  void warn(const char* call, const std::string& what) const {
    log_.warning("{}", error(call, what).message);
  }

  // The value of `call()`, a Result. If it is an error, recover() starts the plug-in anew, and the
  // call is repeated once. Throws AlgorithmFailure if that fails, too.
  template <class Call, class Recover>
  auto try_twice(const char* name, Call&& call, Recover&& recover) const {
    auto first = call();
    if (!first) {
      warn(name, first.error().message + "; it is started anew, and the call is repeated");
      if (const auto ready = recover(); !ready) {
        give_up(name, first.error().message + "; started anew: " + ready.error().message);
      }
      first = call();
      if (!first) give_up(name, first.error().message + " (for the second time)");
    }
    if constexpr (!std::is_void_v<typename decltype(first)::value_type>) return *std::move(first);
  }

 private:
  std::string owner_;
  Log log_;
};

}  // namespace attune
