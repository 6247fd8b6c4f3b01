#pragma once
// Regression by a random forest over positions and categories, some of which may be inactive.
//
// Sources: Breiman, "Random Forests" (Machine Learning 2001); mean and variance of a prediction,
// and split points drawn between two neighbouring values: Hutter, Xu, Hoos, Leyton-Brown,
// "Algorithm runtime prediction: Methods & evaluation" (Artificial Intelligence 2014), sections 4.3
// and 5.2. Categories are cut in the order of their mean targets, among whose cuts is the best of
// all subsets: Breiman, Friedman, Olshen, Stone, "Classification and Regression Trees" (1984),
// section 4.2.2. Inactive is a category of its own; beside positions the split decides for it.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"

namespace attune {

struct ForestSettings {
  std::size_t trees = 10;      // >= 1
  double share = 5.0 / 6;      // of the dimensions, those that a split chooses from; (0, 1]
  std::size_t least_leaf = 1;  // observations on each side of a split, >= 1
  bool bootstrap = true;       // each tree sees as many observations, drawn with replacement
};

// A value. Not thread safe. The same numbers and generator give the same bits.
class Forest {
 public:
  // The law of total variance over trees: variance within the leaves plus that of their means.
  struct Prediction {
    double mean = 0;
    double variance = 0;  // >= 0
  };

  // `categories` of each dimension, 0: a position.
  Forest(std::vector<std::size_t> categories, const ForestSettings& settings);

  std::size_t dimensions() const { return categories_.size(); }
  bool empty() const { return roots_.empty(); }  // not fitted: does not predict
  std::size_t nodes() const { return nodes_.size(); }

  // These observations and no others: at least one and less than 2^31, row by row, NaN where
  // inactive; targets below 1e100 in magnitude. In n rows and d dimensions O(d n log n) for the
  // order of the values and for each tree, if these are balanced.
  void fit(std::span<const double> rows, std::span<const double> targets, Rng& rng);

  Prediction predict(std::span<const double> row) const;
  // `rows`: count x dimensions(), row by row; of no dimensions there is one.
  std::vector<Prediction> predict_many(std::span<const double> rows) const;

  // The trees: 24 bytes of a leaf, 16 of a split, and of one by categories 8 for each 32 of them.
  json save() const;
  // Into a forest of the same categories and number of trees; all or nothing.
  Result<void> load(const json& state);

 private:
  friend class TreeGrower;

  // The left child is the next node, and the right one comes after all that is below the left.
  struct Node {
    double value = 0;         // positions up to it go left; in a leaf the mean
    double variance = 0;      // of a leaf
    std::uint32_t right = 0;  // 0: a leaf
    std::uint32_t dimension = 0;
    std::uint32_t left_set = 0;  // of categories: where their bits begin in bits_
    bool inactive_left = false;
  };

  class Reader;

  bool goes_left(const Node& node, double x) const;
  const Node& leaf(std::size_t root, const double* row) const;

  std::vector<std::size_t> categories_;
  ForestSettings settings_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> roots_;
  std::vector<std::uint32_t> bits_;
};

}  // namespace attune
