#include "examples/cart_pole/alone.h"

#include "examples/cart_pole/learner.h"
#include "examples/cart_pole/replay.h"

namespace cart_pole {

Progress train_alone(const Settings& settings, const std::function<bool(const Progress&)>& report) {
  const attune::Rng rng(settings.seed);
  Learner learner(settings, rng.fork("learner"));
  Replay replay(settings.capacity, settings.alpha, settings.beta, rng.fork("replay"));
  Player player(settings, rng.fork("player"));
  Progress progress;
  double losses = 0;
  std::size_t since = 0;
  while (learner.steps() < settings.train_steps) {
    if (learner.steps() % settings.steps_per_segment == 0 || replay.size() < settings.batch) {
      Segment segment = player.play(learner.network(), exploration(settings, learner.steps()));
      progress.env_steps += segment.length();
      replay.push(std::move(segment));
      if (replay.size() < settings.batch) continue;
    }
    const std::vector<Sample> batch = replay.sample(settings.batch);
    const Learner::Trained trained = learner.train(batch);
    replay.update(batch, trained.priorities);
    losses += trained.loss;
    ++since;
    const bool last = learner.steps() == settings.train_steps;
    if (learner.steps() % settings.report_every != 0 && !last) continue;
    progress.train_steps = learner.steps();
    progress.loss = losses / static_cast<double>(since);
    // Never the same starts as in training; the same ones each time.
    progress.reward = evaluate(learner.network(), settings, rng.fork("evaluation"));
    losses = 0;
    since = 0;
    if (!report(progress)) break;
  }
  return progress;
}

}  // namespace cart_pole
