#pragma once
// Learner and collection in one process.
#include <functional>

#include "examples/cart_pole/settings.h"

namespace cart_pole {

struct Progress {
  std::size_t train_steps = 0, env_steps = 0;
  double loss = 0;    // the mean since the last report
  double reward = 0;  // the mean return without random actions
};

// Trains for settings.train_steps; `report` hears of it every settings.report_every, and ends it
// with false. The same settings give the same results.
Progress train_alone(const Settings& settings, const std::function<bool(const Progress&)>& report);

}  // namespace cart_pole
