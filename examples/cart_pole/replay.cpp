#include "examples/cart_pole/replay.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cart_pole {

Replay::Replay(std::size_t capacity, double alpha, double beta, const attune::Rng& rng)
    : capacity_(capacity), alpha_(alpha), beta_(beta), rng_(rng) {}

void Replay::push(Segment segment) {
  if (segments_.size() < capacity_) {
    segments_.emplace_back();
    powers_.emplace_back();
  }
  const std::size_t place = pushed_++ % capacity_;
  segments_[place] = std::make_shared<const Segment>(std::move(segment));
  powers_[place] = largest_;
}

// The sums anew each time: a thousand additions are little beside the training step.
std::vector<Sample> Replay::sample(std::size_t n) {
  std::vector<double> sums(powers_.size());
  std::partial_sum(powers_.begin(), powers_.end(), sums.begin());
  const double smallest = *std::ranges::min_element(powers_);
  std::vector<Sample> batch;
  for (std::size_t i = 0; i < n; ++i) {
    const auto found = std::ranges::upper_bound(sums, rng_.uniform() * sums.back());
    const auto place =
        std::min(static_cast<std::size_t>(found - sums.begin()), segments_.size() - 1);
    batch.push_back({place, std::pow(smallest / powers_[place], beta_), segments_[place]});
  }
  return batch;
}

void Replay::update(std::span<const Sample> batch, std::span<const double> priorities) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (segments_[batch[i].id] != batch[i].segment) continue;
    powers_[batch[i].id] = std::pow(priorities[i] + 1e-5, alpha_);
    largest_ = std::max(largest_, powers_[batch[i].id]);
  }
}

}  // namespace cart_pole
