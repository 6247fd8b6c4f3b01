#pragma once
// Learning curves from a file; docs/simulate.md describes its format.
#include <memory>
#include <string>
#include <string_view>

#include "backends/simulated/learning_curve.h"

namespace attune {

// `text` is the file: one JSON document or JSON Lines. `name` is for messages. `metric` names the
// key of the values; empty: the only one that holds an array of numbers.
//
// Rows without parameters belong to the trials in order, and a trial beyond the last row is an
// error. Rows with parameters belong to whatever trial they are nearest to: numbers by their
// difference on the range of the file (of logarithms where that range is positive and spans a
// factor of 100 or more), anything else by equality; the first of several.
Result<std::unique_ptr<CurveSource>> recorded_curves(std::string_view text, const std::string& name,
                                                     const std::string& metric = "");

}  // namespace attune
