#pragma once
#include <memory>

#include "tuners/parts/explore_tuner.h"

namespace attune {

// Population based training as in Syne Tune (rungs/population_syne.h). A loser is stopped. The next
// new trial begins from the checkpoint of its donor, with a changed configuration; of several
// copies the latest comes first. If there is none, a new trial has a random configuration. So the
// population is as large as the number of trials that the manager runs at once, and never ends.
std::unique_ptr<Tuner> make_syne_population_tuner(PopulationSettings settings, RayExplore explore,
                                                  const Rng& rng);

}  // namespace attune
