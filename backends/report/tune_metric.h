#pragma once
// Syne Tune's way to report: a line `[tune-metric]: {"epoch": 3, "loss": 0.5}` on standard output.
// In the shim too: no JSON.
#include <optional>
#include <string_view>

namespace attune {

// The text of the object that a line reports, wherever in the line it stands, from the first brace
// to the last; nothing when the line reports none. Where that is no JSON, as with two reports on
// one line, the line is lost, and nothing else.
std::optional<std::string_view> find_tune_metric(std::string_view line);

}  // namespace attune
