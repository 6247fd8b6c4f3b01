#pragma once
// Double Q-learning with a target network and prioritised replay.
//
// van Hasselt, Guez & Silver, "Deep reinforcement learning with double Q-learning", AAAI 2016,
// equation 4, with the sum of several rewards before the network is asked (Sutton & Barto,
// "Reinforcement learning", 2nd edition, section 7.1). Errors count linearly beyond 1 (Mnih et al.,
// Nature 518, 2015, "Training details"). Weights of importance: Schaul et al., "Prioritized
// experience replay", ICLR 2016, algorithm 1.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "examples/cart_pole/network.h"
#include "examples/cart_pole/segment.h"
#include "examples/cart_pole/settings.h"

namespace cart_pole {

struct Sample {
  std::uint64_t id = 0;
  double weight = 1;
  std::shared_ptr<const Segment> segment;
};

class Learner {
 public:
  Learner(const Settings& settings, const attune::Rng& rng);

  struct Trained {
    double loss = 0;                 // the mean over the transitions, weighted
    std::vector<double> priorities;  // of each sample: the mean of its absolute errors
  };
  // One training step; settings.per_segment transitions are drawn of each sample, at least one of
  // which there must be.
  Trained train(std::span<const Sample> batch);

  // What the network should give for the action taken in state `at` of the segment.
  double target(const Segment& segment, std::size_t at);

  Network& network() { return network_; }
  std::size_t steps() const { return steps_; }
  // Goes on from a policy that was published after so many steps; sizes must be the same.
  attune::Result<void> go_on(std::span<const double> weights, std::size_t steps);

 private:
  Settings settings_;
  attune::Rng rng_;
  Network network_, target_;
  Adam adam_;
  std::vector<double> gradient_;
  std::size_t steps_ = 0;
};

}  // namespace cart_pole
