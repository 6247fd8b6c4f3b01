#pragma once
// Syne Tune's way to report: a line `[tune-metric]: {"epoch": 3, "loss": 0.5}` on standard output.
#include <optional>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// The object that a line reports, wherever in the line it stands, from the first brace to the last;
// nothing when the line reports none. An error when that is not one JSON object, as with two
// reports on one line: the line is lost, and nothing else.
Result<std::optional<json>> parse_tune_metric(std::string_view line);

}  // namespace attune
