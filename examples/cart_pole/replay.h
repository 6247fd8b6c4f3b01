#pragma once
// The replay of a single process: what a coordinator's buffer of the policy `prioritised` is to
// several (Schaul et al. 2016, equation 1 and section 3.4). Not thread safe.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/rng.h"
#include "examples/cart_pole/learner.h"

namespace cart_pole {

class Replay {
 public:
  Replay(std::size_t capacity, double alpha, double beta, const attune::Rng& rng);

  // In the place of the oldest, when it is full.
  void push(Segment segment);
  // With replacement. There must be something in it.
  std::vector<Sample> sample(std::size_t n);
  void update(std::span<const Sample> batch, std::span<const double> priorities);
  std::size_t size() const { return segments_.size(); }

 private:
  std::size_t capacity_;
  double alpha_, beta_;
  attune::Rng rng_;
  std::vector<std::shared_ptr<const Segment>> segments_;
  std::vector<double> powers_;  // of the priorities
  std::uint64_t pushed_ = 0;
  double largest_ = 1;
};

}  // namespace cart_pole
