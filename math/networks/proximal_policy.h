#pragma once
// Trains a policy with batches of rewarded sequences.
//
// Source: Schulman, Wolski, Dhariwal, Radford, Klimov, "Proximal Policy Optimization Algorithms"
// (arXiv 1707.06347), the clipped objective of sections 3 and 5. The advantages are those of
// Schulman, Moritz, Levine, Jordan, Abbeel, "High-Dimensional Continuous Control Using Generalized
// Advantage Estimation" (ICLR 2016), section 3, standardised in each minibatch.
#include <cstddef>
#include <span>
#include <vector>

#include "base/rng.h"
#include "math/networks/adam.h"
#include "math/networks/sequence_policy.h"

namespace attune {

struct ProximalSettings {
  std::size_t epochs = 4;     // passes over a batch
  std::size_t minibatch = 4;  // sequences in a step of the optimiser, >= 1
  double rate = 0.03;         // of the optimiser
  double clip = 0.2;          // how far the ratio of a probability to its old value may move
  double entropy = 0;         // weight of the entropy of the decisions
  double worth = 0.5;         // weight of the critic's squared error
  double longest = 0.5;       // norm to which a gradient is cut
  double discount = 0.99;     // of a reward, for each later decision
  double trace = 0.95;        // lambda: 0 believes the critic, 1 the reward
};

// A sequence with a reward at its end, of magnitude about 1.
struct Rollout {
  Sequence sequence;
  double reward = 0;
};

// What the policy said of a decision before the update, and what followed.
struct Experience {
  double log_probability = 0;
  double advantage = 0;
  double worth = 0;  // the value that the critic should have given
};

// The experience of each decision of a rollout.
std::vector<Experience> experience(const SequencePolicy& policy, const Rollout& rollout,
                                   const ProximalSettings& settings);

// The loss of a minibatch, as a mean over its decisions; adds its gradient by policy.weights(). It
// is the paper's objective with the opposite sign, and with half of the critic's squared error.
double proximal_loss(const SequencePolicy& policy, std::span<const Sequence* const> sequences,
                     std::span<const std::vector<Experience>* const> experiences,
                     const ProximalSettings& settings, std::span<double> gradient);

// Trains with one batch: at most epochs * (size / minibatch, rounded up) steps. `rng` shuffles the
// batch.
void proximal_update(SequencePolicy& policy, Adam& adam, std::span<const Rollout> batch,
                     const ProximalSettings& settings, Rng& rng);

}  // namespace attune
