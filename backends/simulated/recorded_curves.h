#pragma once
// Learning curves from a file; docs/simulate.md describes its format.
#include <memory>
#include <string>
#include <string_view>

#include "backends/simulated/learning_curve.h"

namespace attune {

// `text`: the content of the file, one JSON document or JSON Lines. `name`: for messages. `metric`:
// the key of the values; empty: the only key that holds an array of numbers.
//
// Rows without parameters belong to the trials in order; a trial beyond the last row is an error.
// Rows with parameters: each trial gets the nearest row, the first of several. Numbers are compared
// by their difference, in units of the range in the file (of logarithms if that range is positive
// and spans a factor of 100 or more); everything else by equality.
Result<std::unique_ptr<CurveSource>> recorded_curves(std::string_view text, const std::string& name,
                                                     const std::string& metric = "");

}  // namespace attune
