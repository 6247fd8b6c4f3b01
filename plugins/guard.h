#pragma once
// What the guards of tuners and of assessors share: how they name the plug-in, and how they give it
// a second chance.
#include <string>
#include <type_traits>
#include <utility>

#include "base/algorithm_failure.h"
#include "base/json.h"
#include "base/result.h"
#include "os/log.h"

namespace attune {

// A plug-in that can save is asked for its state after each so many events, if nobody else has
// asked: without a journal nobody does, and the events would fill the memory. One that fails to
// save is started anew and told all of them again, so it is not asked at each event from then on.
inline constexpr std::size_t kMostEvents = 20'000;

// What the plug-in itself has saved, out of a state that a guard has saved: "plugin". Null: nothing
// yet, which "saved" must say, too, so that a lost member is noticed. `saves`: the plug-in can.
inline Result<json> state_of_plugin(const json& state, bool saves) {
  json plugin = TRY(value_at(state, "plugin"));
  const bool saved = TRY(boolean_at(state, "saved"));
  if (saved == plugin.is_null()) return fail("saved state: \"plugin\" and \"saved\" contradict");
  if (saved && !saves) return fail("saved state: of another plug-in");
  return plugin;
}

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
