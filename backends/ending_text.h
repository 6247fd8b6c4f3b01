#pragma once
// The names of endings, as the store and the messages between machines have them.
#include <optional>
#include <string_view>

#include "backends/trial_backend.h"

namespace attune {

std::string_view to_text(Ending ending);  // "out_of_memory"
std::optional<Ending> ending_of(std::string_view text);

}  // namespace attune
