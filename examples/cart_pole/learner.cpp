#include "examples/cart_pole/learner.h"

#include <algorithm>
#include <cmath>

namespace cart_pole {

Learner::Learner(const Settings& settings, const attune::Rng& rng)
    : settings_(settings),
      rng_(rng),
      network_(settings.hidden, rng_),
      target_(network_),
      adam_(network_.weights().size()),
      gradient_(network_.weights().size()) {}

double Learner::target(const Segment& segment, std::size_t at) {
  const std::size_t end = std::min(at + settings_.lookahead, segment.length());
  double sum = 0, factor = 1;
  for (std::size_t i = at; i < end; ++i) {
    sum += factor;
    factor *= settings_.discount;
  }
  if (end == segment.length() && segment.fallen) return sum;
  // Time that is up is no fall: the pole would have stood on.
  const State& state = segment.states[end];
  return sum + factor * target_.values(state)[network_.best_action(state)];
}

Learner::Trained Learner::train(std::span<const Sample> batch) {
  Trained trained;
  std::ranges::fill(gradient_, 0.0);
  const double share = 1 / static_cast<double>(batch.size() * settings_.per_segment);
  for (const Sample& sample : batch) {
    double errors = 0;
    for (std::size_t i = 0; i < settings_.per_segment; ++i) {
      const Segment& segment = *sample.segment;
      const std::size_t at = rng_.index(segment.length());
      const double wanted = target(segment, at);
      const std::size_t action = segment.actions[at];
      const double error = network_.values(segment.states[at])[action] - wanted;
      const double size = std::abs(error);
      errors += size;
      trained.loss += share * sample.weight * (size < 1 ? error * error / 2 : size - 0.5);
      Values slopes = {};
      slopes[action] = share * sample.weight * std::clamp(error, -1.0, 1.0);
      network_.add_gradient(slopes, gradient_);
    }
    trained.priorities.push_back(errors / static_cast<double>(settings_.per_segment));
  }
  adam_.step(network_.weights(), gradient_, settings_.learning_rate);
  if (++steps_ % settings_.target_every == 0) target_ = network_;
  return trained;
}

attune::Result<void> Learner::go_on(std::span<const double> weights, std::size_t steps) {
  if (weights.size() != network_.weights().size()) return attune::fail("it has another size");
  std::ranges::copy(weights, network_.weights().begin());
  target_ = network_;
  steps_ = steps;
  return {};
}

}  // namespace cart_pole
