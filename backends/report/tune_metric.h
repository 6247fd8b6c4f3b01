#pragma once
// Finds reports in Syne Tune's format: a line `[tune-metric]: {"epoch": 3, "loss": 0.5}` on
// standard output. Also used in the shim: it needs no JSON.
#include <optional>
#include <string_view>

namespace attune {

// The text of the object that a line reports, wherever it stands in the line, from the first brace
// to the last; nothing if the line reports none. If the text is no JSON, as with two reports on one
// line, this line is lost, but nothing else.
std::optional<std::string_view> find_tune_metric(std::string_view line);

}  // namespace attune
