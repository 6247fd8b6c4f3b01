#pragma once
// A distribution over sequences of decisions in which later decisions depend on earlier ones (an
// actor), with an estimate of the value of the sequence so far (a critic).
//
// Actor: a softmax over the options of each site. A logit is a sum: one weight for the option, and
// one for each pair of this option and an option that was chosen before. That is a fully visible
// belief network (Neal, "Connectionist learning of belief networks", Artificial Intelligence 1992,
// section 3; Frey, "Graphical Models for Machine Learning and Digital Communication", 1998, section
// 3.2) with options in place of bits. Its logarithm is concave in the weights, it needs no
// backpropagation, and it begins at zero weights, where all options are equally likely. A recurrent
// network needs random weights to begin with and has to learn how to remember.
//
// Critic: a sum of one weight for each option that was chosen.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"

namespace attune {

struct SequenceStep {
  std::size_t site = 0;    // what is decided
  std::size_t option = 0;  // what was chosen, below the number of options of the site
  // Added to the logit of the last option: a prior, from a caller that knows more than the sites.
  double offset = 0;
};
// Ascending sites, none twice; sites may be missing.
using Sequence = std::vector<SequenceStep>;

// A value. Not thread safe.
class SequencePolicy {
 public:
  // `options`: how many each site has, >= 1. A site depends on the sites right before it, on as
  // many as `pair_limit` pairs of options allow. The limit bounds the memory and the time of an
  // update: ten layers of ten operations have 4500 pairs.
  explicit SequencePolicy(const std::vector<std::size_t>& options,
                          std::size_t pair_limit = 1 << 17);

  // The probabilities of the options of `site` after the steps `before`; O(options * steps).
  std::vector<double> probabilities(std::span<const SequenceStep> before, std::size_t site,
                                    double offset) const;
  std::size_t sample(std::span<const SequenceStep> before, std::size_t site, double offset,
                     Rng& rng) const;

  // What the policy says of a step of a sequence. `worth`: the critic's value before the step.
  struct Opinion {
    double log_probability = 0;
    double entropy = 0;  // of the site's options, in nats
    double worth = 0;
  };
  std::vector<Opinion> opinions(const Sequence& sequence) const;

  // Adds to `gradient`, which is as long as weights(), the gradient of the sum of slope * opinion,
  // over all steps and over the three members of an Opinion.
  void add_gradient(const Sequence& sequence, std::span<const Opinion> slopes,
                    std::span<double> gradient) const;

  json save() const;                     // the weights
  Result<void> load(const json& state);  // all or nothing; of the same options

  std::span<double> weights() { return weights_; }
  std::span<const double> weights() const { return weights_; }

 private:
  struct Site {
    std::size_t options = 0;
    std::size_t first = 0;   // number of its first option, counted over all sites
    std::size_t oldest = 0;  // first site that it depends on
    // Where its pairs begin in weights_; the pairs with one earlier option are in a row.
    std::size_t pairs = 0;
  };

  std::size_t worth_at(const SequenceStep& step) const {
    return options_ + sites_[step.site].first + step.option;
  }
  std::size_t pairs_at(const Site& site, const SequenceStep& earlier) const {
    const std::size_t option = sites_[earlier.site].first + earlier.option;
    return site.pairs + (option - sites_[site.oldest].first) * site.options;
  }

  std::vector<Site> sites_;
  std::size_t options_ = 0;  // of all sites
  // Logits of all options, worths of all options, the worth of an empty sequence, and the pairs.
  std::vector<double> weights_;
};

}  // namespace attune
