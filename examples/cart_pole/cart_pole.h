#pragma once
// The pole on a cart: Barto, Sutton & Anderson, "Neuronlike adaptive elements that can solve
// difficult learning control problems", IEEE Transactions on Systems, Man, and Cybernetics 13
// (1983), appendix, with their constants and without friction, as all benchmarks have it; Euler's
// method, 0.02 s a step. A reward of 1 for each step; an episode ends when the cart leaves the
// track or the pole has fallen (12 degrees, of the benchmarks), or after the steps that are
// allowed.
#include <array>
#include <cstddef>

#include "base/rng.h"

namespace cart_pole {

// Position (m), velocity (m/s), angle (rad, 0: upright), angular velocity (rad/s).
using State = std::array<double, 4>;
inline constexpr std::size_t kActions = 2;  // 0: push to the left, 1: to the right, with 10 N

State first_state(attune::Rng& rng);  // each number uniform in [-0.05, 0.05]
State step(const State& state, std::size_t action);
bool has_fallen(const State& state);  // |position| > 2.4 m or |angle| > 12 degrees

}  // namespace cart_pole
