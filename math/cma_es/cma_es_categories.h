#pragma once
// The categorical part of CMA-ES: a probability for each category, which the same ranks move.
//
// Source: Hamano, Saito, Nomura, Uchida, Shirakawa, "CatCMA: Stochastic Optimization for
// Mixed-Category Problems" (GECCO 2024): the joint distribution of a normal and of categorical
// ones, the natural gradient (section 3), and the least probability that keeps every category alive
// (section 4.2). Their adaptation of the learning rate is left out; the rate is fixed, as in PBIL
// (Baluja 1994).
#include <cstddef>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"

namespace attune {

// A group of categories, of which `chosen` are drawn without repetition; 0 < chosen < categories.
struct CategoryGroup {
  std::size_t categories = 0;
  std::size_t chosen = 1;
};

// A draw. `flags`: for each category of each group, in turn, 1 if it was chosen, else 0. `active`:
// for each group whether it had an effect; empty: all had.
struct CategoryResult {
  std::vector<double> flags = {};
  std::vector<bool> active = {};
};

// A value.
class CmaCategories {
 public:
  explicit CmaCategories(std::vector<CategoryGroup> groups);

  std::vector<double> sample(Rng& rng) const;

  // Moves the probabilities towards the best results. `best`: the results with positive weights,
  // best first; `weights` add up to 1; `effective` is their variance-effective number.
  void update(std::span<const CategoryResult> best, std::span<const double> weights,
              double effective);

  // Sets the probabilities to the mean of the active flags, with weight `share` in [0, 1], mixed
  // with the uniform distribution.
  void learn(std::span<const CategoryResult> good, double share);

  std::size_t size() const { return probabilities_.size(); }
  const std::vector<CategoryGroup>& groups() const { return groups_; }
  const std::vector<double>& probabilities() const { return probabilities_; }

  json save() const;
  Result<void> load(const json& state);  // all or nothing; of the same groups

 private:
  void keep_margin();

  std::vector<CategoryGroup> groups_;
  std::vector<double> probabilities_;  // they add up to `chosen` in a group
};

}  // namespace attune
