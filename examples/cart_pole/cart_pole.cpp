#include "examples/cart_pole/cart_pole.h"

#include <cmath>
#include <numbers>

namespace cart_pole {

State first_state(attune::Rng& rng) {
  State state;
  for (double& each : state) each = rng.uniform(-0.05, 0.05);
  return state;
}

State step(const State& state, std::size_t action) {
  constexpr double kGravity = 9.8, kCart = 1.0, kPole = 0.1, kTotal = kCart + kPole;  // m/s^2, kg
  constexpr double kHalfLength = 0.5, kForce = 10, kSeconds = 0.02;                   // m, N, s
  const auto [x, v, angle, w] = state;
  const double force = action == 1 ? kForce : -kForce;
  const double sine = std::sin(angle), cosine = std::cos(angle);
  const double pushed = (force + kPole * kHalfLength * w * w * sine) / kTotal;
  const double angular = (kGravity * sine - cosine * pushed) /
                         (kHalfLength * (4.0 / 3.0 - kPole * cosine * cosine / kTotal));
  const double linear = pushed - kPole * kHalfLength * angular * cosine / kTotal;
  return {x + kSeconds * v, v + kSeconds * linear, angle + kSeconds * w, w + kSeconds * angular};
}

bool has_fallen(const State& state) {
  constexpr double kMostAngle = 12 * std::numbers::pi / 180;
  return std::abs(state[0]) > 2.4 || std::abs(state[2]) > kMostAngle;
}

}  // namespace cart_pole
