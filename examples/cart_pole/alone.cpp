#include "examples/cart_pole/alone.h"

namespace cart_pole {

Alone::Alone(const Settings& settings)
    : settings_(settings),
      rng_(settings.seed),
      learner_(settings, rng_.fork("learner")),
      replay_(settings.capacity, settings.alpha, settings.beta, rng_.fork("replay")),
      player_(settings, rng_.fork("player")) {}

Progress Alone::advance() {
  double losses = 0;
  std::size_t trained = 0;
  do {
    if (learner_.steps() % settings_.steps_per_segment == 0 || replay_.size() < settings_.batch) {
      Segment segment = player_.play(learner_.network(), exploration(settings_, learner_.steps()));
      env_steps_ += segment.length();
      replay_.push(std::move(segment));
      if (replay_.size() < settings_.batch) continue;
    }
    const std::vector<Sample> batch = replay_.sample(settings_.batch);
    const Learner::Trained step = learner_.train(batch);
    replay_.update(batch, step.priorities);
    losses += step.loss;
    ++trained;
  } while (trained == 0 || (learner_.steps() % settings_.report_every != 0 && !done()));
  Progress progress{.train_steps = learner_.steps(), .env_steps = env_steps_};
  progress.loss = losses / static_cast<double>(trained);
  // Never the same starts as in training; the same ones each time.
  progress.reward = evaluate(learner_.network(), settings_, rng_.fork("evaluation"));
  return progress;
}

}  // namespace cart_pole
