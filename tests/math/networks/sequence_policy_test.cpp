#include "math/networks/sequence_policy.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::sequence_policy_test {

using Opinion = SequencePolicy::Opinion;

constexpr std::size_t kAll = 1000;

const std::vector<std::size_t> kOptions = {3, 1, 2, 4};
const std::vector<Sequence> kSequences = {
    {{0, 2}, {1, 0}, {2, 1, 0.7}, {3, 3}}, {{0, 0}, {3, 1}}, {{2, 0, -1.2}, {3, 0, 0.4}}, {}};

SequencePolicy random_policy(std::size_t pair_limit, std::uint64_t seed) {
  SequencePolicy policy(kOptions, pair_limit);
  Rng rng(seed);
  for (double& weight : policy.weights()) weight = rng.normal();
  return policy;
}

// A sum over all opinions with weights that differ.
double weighted(const std::vector<Opinion>& opinions, const std::vector<Opinion>& slopes) {
  double sum = 0;
  for (std::size_t t = 0; t < opinions.size(); ++t) {
    sum += slopes[t].log_probability * opinions[t].log_probability +
           slopes[t].entropy * opinions[t].entropy + slopes[t].worth * opinions[t].worth;
  }
  return sum;
}

TEST_CASE("sequence policy: at first all options are equal and nothing is worth anything") {
  const SequencePolicy policy(kOptions);
  const auto opinions = policy.opinions(kSequences[1]);
  CHECK(opinions[0].log_probability == Approx(-std::log(3)));
  CHECK(opinions[1].log_probability == Approx(-std::log(4)));
  CHECK(opinions[1].entropy == Approx(std::log(4)));
  CHECK(opinions[1].worth == 0);
  // The offset is that of the last option.
  CHECK(policy.probabilities({}, 2, std::log(3.0))[1] == Approx(0.75));
}

TEST_CASE("sequence policy: the gradient by differences") {
  for (const std::size_t pair_limit : {std::size_t{0}, std::size_t{12}, kAll}) {
    SequencePolicy policy = random_policy(pair_limit, pair_limit + 1);
    Rng rng(5);
    for (const Sequence& sequence : kSequences) {
      std::vector<Opinion> slopes;
      for (std::size_t t = 0; t < sequence.size(); ++t) {
        slopes.push_back({rng.normal(), rng.normal(), rng.normal()});
      }
      std::vector<double> gradient(policy.weights().size());
      policy.add_gradient(sequence, slopes, gradient);
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        CAPTURE(pair_limit, i);
        double& weight = policy.weights()[i];
        const double at = weight, step = 1e-5;
        weight = at + step;
        const double above = weighted(policy.opinions(sequence), slopes);
        weight = at - step;
        const double below = weighted(policy.opinions(sequence), slopes);
        weight = at;
        CHECK(gradient[i] == Approx((above - below) / (2 * step)).epsilon(1e-6).margin(1e-8));
      }
    }
  }
}

TEST_CASE("sequence policy: draws are as frequent as it says, after what was chosen") {
  const SequencePolicy policy = random_policy(kAll, 3);
  const Sequence before = {{0, 1}, {2, 1}};
  const std::vector<double> p = policy.probabilities(before, 3, 0.3);
  CHECK(p[0] != Approx(policy.probabilities({}, 3, 0.3)[0]));
  Rng rng(9);
  std::vector<double> counts(4);
  for (int i = 0; i < 20000; ++i) counts[policy.sample(before, 3, 0.3, rng)] += 1.0 / 20000;
  for (std::size_t k = 0; k < 4; ++k) CHECK(counts[k] == Approx(p[k]).margin(0.015));
}

TEST_CASE("sequence policy: few pairs are those with the sites right before") {
  // All pairs are 1 * 3 + 2 * 4 + 4 * 6 = 35; of neighbours 1 * 3 + 2 * 1 + 4 * 2 = 13.
  const std::size_t without = SequencePolicy(kOptions, 0).weights().size();
  CHECK(without == 21);
  CHECK(SequencePolicy(kOptions, 12).weights().size() == without);
  CHECK(SequencePolicy(kOptions, 13).weights().size() == without + 13);
  CHECK(SequencePolicy(kOptions, kAll).weights().size() == without + 35);
  const SequencePolicy policy = random_policy(13, 4);
  const Sequence far = {{0, 1}}, near = {{0, 1}, {2, 1}}, near_only = {{2, 1}};
  CHECK(policy.probabilities(far, 3, 0) == policy.probabilities({}, 3, 0));
  CHECK(policy.probabilities(near, 3, 0) == policy.probabilities(near_only, 3, 0));
  CHECK(policy.probabilities(near, 3, 0) != policy.probabilities({}, 3, 0));
  // A list of very many options stays possible.
  CHECK(SequencePolicy({100000, 100000}).weights().size() == 400001);
}

TEST_CASE("sequence policy: saved and loaded, and states that are refused") {
  SequencePolicy policy = random_policy(kAll, 6);
  SequencePolicy copy(kOptions, kAll);
  REQUIRE(copy.load(policy.save()));
  CHECK(std::ranges::equal(copy.weights(), policy.weights()));
  const json before = policy.save();
  CHECK_FALSE(policy.load(SequencePolicy({2, 2}).save()));
  for (const double bad : {std::nan(""), HUGE_VAL, 1e200}) {
    copy.weights()[3] = bad;
    CHECK_FALSE(policy.load(copy.save()));
  }
  CHECK(policy.save() == before);
}

}  // namespace attune::sequence_policy_test
