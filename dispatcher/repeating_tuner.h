#pragma once
// Wraps a tuner that runs out of new points. Then it proposes the points with results again, each
// once in a round, the best first. For managers that end only when their number of trials is
// reached: NNI's do, and some of NNI's tuners repeat themselves. The inner tuner is told the result
// of a repetition as that of a trial that it did not propose. Repetitions come before the trials
// that an assessor has paused.
#include <memory>

#include "tuners/tuner.h"

namespace attune {

std::unique_ptr<Tuner> make_repeating(std::unique_ptr<Tuner> tuner);

}  // namespace attune
