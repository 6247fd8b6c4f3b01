#pragma once
// Learner and collection in one process.
#include "examples/cart_pole/learner.h"
#include "examples/cart_pole/replay.h"
#include "examples/cart_pole/settings.h"

namespace cart_pole {

struct Progress {
  std::size_t train_steps = 0, env_steps = 0;
  double loss = 0;    // the mean since the last report
  double reward = 0;  // the mean return without random actions
};

// The same settings give the same results.
class Alone {
 public:
  explicit Alone(const Settings& settings);
  bool done() const { return learner_.steps() >= settings_.train_steps; }
  // Trains for settings.report_every steps, or up to settings.train_steps.
  Progress advance();

 private:
  const Settings settings_;
  const attune::Rng rng_;
  Learner learner_;
  Replay replay_;
  Player player_;
  std::size_t env_steps_ = 0;
};

}  // namespace cart_pole
