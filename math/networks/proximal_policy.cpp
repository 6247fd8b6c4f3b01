#include "math/networks/proximal_policy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace attune {
namespace {

struct Scale {
  double mean = 0, deviation = 1;
};

// Mean and deviation of the advantages. By them, neither the unit of the rewards nor luck that a
// whole minibatch shares has an effect.
Scale scale_of(std::span<const std::vector<Experience>* const> experiences) {
  double n = 0, sum = 0, squares = 0;
  for (const auto* sequence : experiences) {
    for (const Experience& one : *sequence) {
      ++n;
      sum += one.advantage;
    }
  }
  if (n == 0) return {};
  for (const auto* sequence : experiences) {
    for (const Experience& one : *sequence) squares += std::pow(one.advantage - sum / n, 2);
  }
  return {sum / n, std::sqrt(squares / n) + 1e-8};
}

}  // namespace

std::vector<Experience> experience(const SequencePolicy& policy, const Rollout& rollout,
                                   const ProximalSettings& settings) {
  const auto opinions = policy.opinions(rollout.sequence);
  std::vector<Experience> all(opinions.size());
  // Backwards: each advantage is the error of the critic here, plus the discounted advantage of the
  // next decision. The reward comes after the last one.
  double advantage = 0;
  for (std::size_t t = all.size(); t-- > 0;) {
    const bool last = t + 1 == all.size();
    const double next = last ? rollout.reward : settings.discount * opinions[t + 1].worth;
    advantage = next - opinions[t].worth + settings.discount * settings.trace * advantage;
    all[t] = {opinions[t].log_probability, advantage, opinions[t].worth + advantage};
  }
  return all;
}

double proximal_loss(const SequencePolicy& policy, std::span<const Sequence* const> sequences,
                     std::span<const std::vector<Experience>* const> experiences,
                     const ProximalSettings& settings, std::span<double> gradient) {
  ATTUNE_CHECK(sequences.size() == experiences.size());
  const Scale scale = scale_of(experiences);
  double n = 0, loss = 0;
  for (const Sequence* sequence : sequences) n += static_cast<double>(sequence->size());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto opinions = policy.opinions(*sequences[i]);
    std::vector<SequencePolicy::Opinion> slopes;
    for (std::size_t t = 0; t < opinions.size(); ++t) {
      const Experience& old = (*experiences[i])[t];
      const double advantage = (old.advantage - scale.mean) / scale.deviation;
      const double ratio = std::exp(opinions[t].log_probability - old.log_probability);
      const double clipped = std::clamp(ratio, 1 - settings.clip, 1 + settings.clip);
      const double error = opinions[t].worth - old.worth;
      // Where the clipped term is the smaller one, the loss does not depend on the policy any more.
      const bool moves = ratio * advantage <= clipped * advantage;
      loss += (-std::min(ratio * advantage, clipped * advantage) -
               settings.entropy * opinions[t].entropy + settings.worth * error * error / 2) /
              n;
      slopes.push_back(
          {moves ? -ratio * advantage / n : 0, -settings.entropy / n, settings.worth * error / n});
    }
    policy.add_gradient(*sequences[i], slopes, gradient);
  }
  return loss;
}

void proximal_update(SequencePolicy& policy, Adam& adam, std::span<const Rollout> batch,
                     const ProximalSettings& settings, Rng& rng) {
  ATTUNE_CHECK(settings.minibatch > 0);
  std::vector<std::vector<Experience>> experiences;
  for (const Rollout& one : batch) experiences.push_back(experience(policy, one, settings));
  std::vector<std::size_t> order(batch.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> gradient(policy.weights().size());
  for (std::size_t epoch = 0; epoch < settings.epochs; ++epoch) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.index(i)]);
    for (std::size_t begin = 0; begin < order.size(); begin += settings.minibatch) {
      std::vector<const Sequence*> sequences;
      std::vector<const std::vector<Experience>*> theirs;
      for (std::size_t i = begin; i < std::min(begin + settings.minibatch, order.size()); ++i) {
        sequences.push_back(&batch[order[i]].sequence);
        theirs.push_back(&experiences[order[i]]);
      }
      std::ranges::fill(gradient, 0.0);
      proximal_loss(policy, sequences, theirs, settings, gradient);
      adam.step(policy.weights(), gradient, settings.rate, settings.longest);
    }
  }
}

}  // namespace attune
