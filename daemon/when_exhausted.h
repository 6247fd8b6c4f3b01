#pragma once
// What a tuner does that has proposed every point of its space: --when-exhausted.
#include <optional>
#include <string_view>

#include "base/json.h"

namespace attune {

enum class WhenExhausted {
  stop,    // says that there is no more
  repeat,  // goes on with points that have a result
};

// As the user names them; nothing: none of them.
std::optional<WhenExhausted> parse_when_exhausted(std::string_view name);
std::string_view name_of(WhenExhausted what);

// Where the user says nothing. A plain NNI manager is done when its number of trials is reached,
// and with nothing else: it gets repetitions where NNI's tuner of that name repeats itself. Ours
// knows what the end of a space is.
WhenExhausted default_when_exhausted(bool nni_manager, std::string_view tuner,
                                     const json& arguments);

}  // namespace attune
