#pragma once
// --when-exhausted: what happens when a tuner has proposed every point of its space.
#include <optional>
#include <string_view>

#include "base/json.h"

namespace attune {

enum class WhenExhausted {
  stop,    // NoMoreTrialJobs
  repeat,  // proposes points with a result again (dispatcher/repeating_tuner.h)
};

// "stop" or "repeat"; nothing: another name.
std::optional<WhenExhausted> parse_when_exhausted(std::string_view name);
std::string_view name_of(WhenExhausted what);

// The default: `stop`, except for a plain NNI manager, if NNI's tuner of that name repeats itself.
// Such a manager ends only when its number of trials is reached, not after NoMoreTrialJobs.
WhenExhausted default_when_exhausted(bool nni_manager, std::string_view tuner,
                                     const json& arguments);

}  // namespace attune
