#pragma once
// Around a tuner that runs out of new points: goes on with those that have a result, once more in
// each round, the best first. For managers that wait for their number of trials, as NNI's do where
// NNI's tuner repeats itself. What a repetition brings is told to the tuner as the result of a
// trial that it did not propose.
#include <memory>

#include "tuners/tuner.h"

namespace attune {

std::unique_ptr<Tuner> make_repeating(std::unique_ptr<Tuner> tuner);

}  // namespace attune
