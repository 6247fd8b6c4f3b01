#include "math/networks/proximal_policy.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::proximal_policy_test {

struct Minibatch {
  SequencePolicy policy{{3, 2, 4}};
  std::vector<Rollout> rollouts = {{{{0, 2}, {1, 0}, {2, 3}}, 1.5},
                                   {{{0, 0}, {2, 1}}, -0.5},
                                   {{{1, 1, 0.8}, {2, 0}}, 0.2},
                                   {{}, -1}};
  std::vector<std::vector<Experience>> old;
  std::vector<const Sequence*> sequences;
  std::vector<const std::vector<Experience>*> experiences;

  // `drift`: how far the policy has moved since it drew the sequences.
  Minibatch(double drift, const ProximalSettings& settings) {
    Rng rng(11);
    for (double& weight : policy.weights()) weight = 0.5 * rng.normal();
    for (const Rollout& one : rollouts) old.push_back(experience(policy, one, settings));
    for (double& weight : policy.weights()) weight += drift * rng.normal();
    for (std::size_t i = 0; i < rollouts.size(); ++i) {
      sequences.push_back(&rollouts[i].sequence);
      experiences.push_back(&old[i]);
    }
  }
};

TEST_CASE("proximal policy: the gradient of the loss by differences, clipped or not") {
  ProximalSettings settings;
  settings.entropy = 0.3;
  for (const double drift : {0.0, 0.05, 0.6}) {
    Minibatch mini(drift, settings);
    const auto loss = [&] {
      std::vector<double> unused(mini.policy.weights().size());
      return proximal_loss(mini.policy, mini.sequences, mini.experiences, settings, unused);
    };
    std::vector<double> gradient(mini.policy.weights().size());
    proximal_loss(mini.policy, mini.sequences, mini.experiences, settings, gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      CAPTURE(drift, i);
      double& weight = mini.policy.weights()[i];
      const double at = weight, step = 1e-6;
      weight = at + step;
      const double above = loss();
      weight = at - step;
      const double below = loss();
      weight = at;
      CHECK(gradient[i] == Approx((above - below) / (2 * step)).epsilon(1e-4).margin(1e-7));
    }
  }
}

TEST_CASE("proximal policy: advantages by their definition") {
  ProximalSettings settings;
  settings.discount = 0.9;
  settings.trace = 0.7;
  const Minibatch mini(0, settings);
  const auto opinions = mini.policy.opinions(mini.rollouts[0].sequence);
  const double v0 = opinions[0].worth, v1 = opinions[1].worth, v2 = opinions[2].worth;
  const double d0 = 0.9 * v1 - v0, d1 = 0.9 * v2 - v1, d2 = 1.5 - v2;
  CHECK(mini.old[0][0].advantage == Approx(d0 + 0.63 * d1 + 0.63 * 0.63 * d2));
  CHECK(mini.old[0][1].advantage == Approx(d1 + 0.63 * d2));
  CHECK(mini.old[0][2].advantage == Approx(d2));
  CHECK(mini.old[0][2].worth == Approx(1.5));
  CHECK(mini.old[0][1].log_probability == opinions[1].log_probability);
}

TEST_CASE("proximal policy: what moved beyond the clip pulls no further") {
  ProximalSettings settings;
  settings.worth = 0;
  SequencePolicy policy({2});
  const Sequence good = {{0, 0}}, bad = {{0, 1}};
  const std::vector<Experience> praised = {{std::log(0.5), 1, 0}},
                                blamed = {{std::log(0.5), -1, 0}};
  const std::vector<const Sequence*> sequences = {&good, &bad};
  const std::vector<const std::vector<Experience>*> experiences = {&praised, &blamed};
  const auto pull = [&](double logit) {
    policy.weights()[0] = logit;
    std::vector<double> gradient(policy.weights().size());
    proximal_loss(policy, sequences, experiences, settings, gradient);
    return gradient[0];
  };
  CHECK(pull(0) < 0);
  CHECK(pull(0.3) < 0);      // 0.574, a ratio of 1.15
  CHECK(pull(0.5) == 0);     // 0.62, a ratio of 1.24, and of 0.76
  CHECK(pull(-0.5) < -0.4);  // moved the wrong way by as much: no clip
}

TEST_CASE("proximal policy: a batch makes rewarded options likelier, also in their context") {
  // The second choice should be equal to the first.
  SequencePolicy policy({2, 2});
  Adam adam(policy.weights().size());
  Rng rng(3);
  for (int round = 0; round < 60; ++round) {
    std::vector<Rollout> batch;
    for (int i = 0; i < 20; ++i) {
      Sequence sequence = {{0, policy.sample({}, 0, 0, rng)}};
      sequence.push_back({1, policy.sample(sequence, 1, 0, rng)});
      batch.push_back({sequence, sequence[0].option == sequence[1].option ? 1.0 : -1.0});
    }
    proximal_update(policy, adam, batch, {}, rng);
  }
  const Sequence zero = {{0, 0}}, one = {{0, 1}};
  CHECK(policy.probabilities(zero, 1, 0)[0] + policy.probabilities(one, 1, 0)[1] > 1.8);
}

}  // namespace attune::proximal_policy_test
