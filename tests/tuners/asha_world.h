#pragma once
// ASHA with few rungs, for its tests.
#include "tests/tuners/promotion_world.h"

namespace attune {
extern const TunerEntry asha_tuner_entry;
}

namespace attune::asha_test {

// Rungs at 1 and 3, complete at 9. Smaller is better.
inline PromotionWorld small(const json& more = json::object()) {
  json args = {{"max_t", 9}, {"resource_attr", "epoch"}};
  args.update(more);
  return {asha_tuner_entry, args, {{"loss", false}}};
}

// Trials 0 (the best), 1 and 2 wait at rung 1.
inline PromotionWorld three_wait() {
  PromotionWorld world = small();
  for (TrialId trial = 0; trial < 3; ++trial) CHECK(world.ask(trial) == "new to 1");
  for (TrialId trial = 0; trial < 3; ++trial) {
    CHECK(world.report(trial, 1, double(trial)) == "pause");
  }
  return world;
}

}  // namespace attune::asha_test
