#include "math/networks/sequence_policy.h"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "base/check.h"
#include "base/saved_numbers.h"

namespace attune {
namespace {

double entropy_of(std::span<const double> p) {
  double entropy = 0;
  for (const double x : p) entropy -= x > 0 ? x * std::log(x) : 0;
  return entropy;
}

}  // namespace

SequencePolicy::SequencePolicy(const std::vector<std::size_t>& options, std::size_t pair_limit) {
  for (const std::size_t count : options) {
    ATTUNE_CHECK(count > 0);
    sites_.push_back({.options = count, .first = options_});
    options_ += count;
  }
  const auto pairs = [&](std::size_t window) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < sites_.size() && sum <= pair_limit; ++i) {
      sum += (sites_[i].first - sites_[i - std::min(i, window)].first) * sites_[i].options;
    }
    return sum;
  };
  // The largest window whose pairs stay within the limit, by bisection.
  std::size_t window = 0;
  for (std::size_t beyond = sites_.size() + 1; window + 1 < beyond;) {
    const std::size_t middle = window + (beyond - window) / 2;
    (pairs(middle) <= pair_limit ? window : beyond) = middle;
  }
  std::size_t next = 2 * options_ + 1;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    sites_[i].oldest = i - std::min(i, window);
    sites_[i].pairs = next;
    next += (sites_[i].first - sites_[sites_[i].oldest].first) * sites_[i].options;
  }
  weights_.assign(next, 0.0);
}

std::vector<double> SequencePolicy::probabilities(std::span<const SequenceStep> before,
                                                  std::size_t site, double offset) const {
  const Site& own = sites_[site];
  const auto logits = weights_.begin() + static_cast<std::ptrdiff_t>(own.first);
  std::vector<double> p(logits, logits + static_cast<std::ptrdiff_t>(own.options));
  p.back() += offset;
  for (const SequenceStep& step : std::views::reverse(before)) {
    if (step.site < own.oldest) break;
    const double* pair = &weights_[pairs_at(own, step)];
    for (std::size_t k = 0; k < p.size(); ++k) p[k] += pair[k];
  }
  const double highest = *std::ranges::max_element(p);
  double total = 0;
  for (double& x : p) total += x = std::exp(x - highest);
  for (double& x : p) x /= total;
  return p;
}

std::size_t SequencePolicy::sample(std::span<const SequenceStep> before, std::size_t site,
                                   double offset, Rng& rng) const {
  const std::vector<double> p = probabilities(before, site, offset);
  double left = rng.uniform();
  for (std::size_t k = 0; k + 1 < p.size(); ++k) {
    left -= p[k];
    if (left < 0) return k;
  }
  return p.size() - 1;
}

std::vector<SequencePolicy::Opinion> SequencePolicy::opinions(const Sequence& sequence) const {
  std::vector<Opinion> all;
  all.reserve(sequence.size());
  double worth = weights_[2 * options_];
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    const auto p =
        probabilities(std::span(sequence).first(t), sequence[t].site, sequence[t].offset);
    all.push_back({std::log(p[sequence[t].option]), entropy_of(p), worth});
    worth += weights_[worth_at(sequence[t])];
  }
  return all;
}

void SequencePolicy::add_gradient(const Sequence& sequence, std::span<const Opinion> slopes,
                                  std::span<double> gradient) const {
  ATTUNE_CHECK(gradient.size() == weights_.size() && slopes.size() == sequence.size());
  // The weight of an option counts in the worth of all later steps: going backwards, the sum of
  // their slopes is its gradient.
  double later_worths = 0;
  for (std::size_t t = sequence.size(); t-- > 0;) {
    const auto& [site, option, offset] = sequence[t];
    gradient[worth_at(sequence[t])] += later_worths;
    later_worths += slopes[t].worth;

    const auto before = std::span(sequence).first(t);
    const std::vector<double> p = probabilities(before, site, offset);
    const double entropy = entropy_of(p);
    // By logit k, log p has the derivative [k == option] - p_k, and the entropy -p_k (log p_k +
    // entropy).
    std::vector<double> by_logit(p.size());
    for (std::size_t k = 0; k < p.size(); ++k) {
      const double log_p = p[k] > 0 ? std::log(p[k]) : 0;
      by_logit[k] = slopes[t].log_probability * ((k == option ? 1 : 0) - p[k]) -
                    slopes[t].entropy * p[k] * (log_p + entropy);
    }
    const Site& own = sites_[site];
    for (std::size_t k = 0; k < p.size(); ++k) gradient[own.first + k] += by_logit[k];
    for (const SequenceStep& step : std::views::reverse(before)) {
      if (step.site < own.oldest) break;
      double* pair = &gradient[pairs_at(own, step)];
      for (std::size_t k = 0; k < p.size(); ++k) pair[k] += by_logit[k];
    }
  }
  gradient[2 * options_] += later_worths;
}

json SequencePolicy::save() const { return save_numbers(weights_); }

Result<void> SequencePolicy::load(const json& state) {
  auto weights = TRY(numbers(state));
  // Sums of weights below this limit cannot overflow.
  const auto possible = [](double x) { return std::abs(x) < 1e100; };
  if (weights.size() != weights_.size() || !std::ranges::all_of(weights, possible)) {
    return fail("saved state: impossible weights of a policy");
  }
  weights_ = std::move(weights);
  return {};
}

}  // namespace attune
