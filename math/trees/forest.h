#pragma once
// Regression by a random forest over positions and categories, some of which may be inactive.
//
// Sources: Breiman, "Random Forests" (Machine Learning 2001). Mean and variance of a prediction,
// and split points drawn between two neighbouring values: Hutter, Xu, Hoos, Leyton-Brown,
// "Algorithm runtime prediction: Methods & evaluation" (Artificial Intelligence 2014), sections 4.3
// and 5.2. Categories are cut in the order of their mean targets; one of these cuts is the best of
// all subsets: Breiman, Friedman, Olshen, Stone, "Classification and Regression Trees" (1984),
// section 4.2.2. An inactive category is a category of its own; for an inactive position, each
// split decides on which side it goes.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"

namespace attune {

struct ForestSettings {
  std::size_t trees = 10;      // >= 1
  double share = 5.0 / 6;      // share of the dimensions that a split chooses from; (0, 1]
  std::size_t least_leaf = 1;  // observations on each side of a split, >= 1
  bool bootstrap = true;       // each tree learns from as many observations, drawn with replacement
};

// A value. Not thread safe. The same inputs and generator give the same bits.
class Forest {
 public:
  // By the law of total variance: the mean variance within the leaves, plus the variance of the
  // trees' means.
  struct Prediction {
    double mean = 0;
    double variance = 0;  // >= 0
  };

  // What the splits on the way to a leaf leave of a dimension.
  struct Bound {
    std::size_t dimension = 0;
    double low = -std::numeric_limits<double>::infinity();  // positions x: low < x <= high
    double high = std::numeric_limits<double>::infinity();
    std::vector<std::uint32_t> set = {};  // categories c: those with bit c % 32 in element c / 32

    bool holds(std::size_t category) const {
      return (set[category / 32] >> category % 32 & 1) != 0;
    }
  };

  // `categories`: how many each dimension has; 0: a position.
  Forest(std::vector<std::size_t> categories, const ForestSettings& settings);

  std::size_t dimensions() const { return categories_.size(); }
  std::size_t trees() const { return roots_.size(); }
  bool empty() const { return roots_.empty(); }  // not fitted yet: do not call predict()
  std::size_t nodes() const { return nodes_.size(); }

  // Fits these observations, and forgets all earlier ones. There is at least one, and less than
  // 2^31; row by row, NaN where inactive; targets are below 1e100 in magnitude. With n rows and d
  // dimensions, sorting the values costs O(d n log n), and so does each tree if it is balanced.
  void fit(std::span<const double> rows, std::span<const double> targets, Rng& rng);

  Prediction predict(std::span<const double> row) const;
  // `rows`: count x dimensions(), row by row. Without dimensions there is one row.
  std::vector<Prediction> predict_many(std::span<const double> rows) const;

  // Calls `visit` for each leaf of a tree, with its mean and the bounds of all dimensions that have
  // any: where nothing is inactive, the leaves divide the space.
  void visit_leaves(std::size_t tree,
                    const std::function<void(double mean, std::span<const Bound>)>& visit) const;

  // Stores the trees: 24 bytes for a leaf; 16 for a split by a position; for one by categories 8,
  // and 8 more for each 32 categories.
  json save() const;
  // Loads into a forest with the same categories and number of trees. On an error nothing changes.
  Result<void> load(const json& state);

 private:
  friend class TreeGrower;

  // The left child of a node is the next node; the right child comes after all nodes below the
  // left.
  struct Node {
    double value = 0;         // split: positions up to it go left; leaf: the mean
    double variance = 0;      // of a leaf
    std::uint32_t right = 0;  // 0: a leaf
    std::uint32_t dimension = 0;
    std::uint32_t left_set = 0;  // of categories: index in bits_ of the set that goes left
    bool inactive_left = false;
  };

  class Reader;

  bool goes_left(const Node& node, double x) const;
  const Node& leaf(std::size_t root, const double* row) const;
  void narrow(const Node& node, bool right, Bound& bound) const;

  std::vector<std::size_t> categories_;
  ForestSettings settings_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> roots_;
  std::vector<std::uint32_t> bits_;
};

}  // namespace attune
