#pragma once
// Grows the trees of a forest (math/trees/forest.h), one after another, into its flat array of
// nodes.
//
// Values are sorted only once for the forest. Each dimension has a list of observations in that
// order, and a node is the same range in all lists. A split partitions each list and keeps the
// order on both sides, so that no node has to sort.
#include <optional>
#include <span>
#include <vector>

#include "math/trees/forest.h"

namespace attune {

class TreeGrower {
 public:
  // The spans must outlive it.
  TreeGrower(Forest& forest, std::span<const double> rows, std::span<const double> targets,
             Rng& rng);

  void grow();

 private:
  using List = std::vector<std::uint32_t>;  // of observations

  struct Range {
    std::size_t begin = 0, end = 0;
    std::optional<std::size_t> parent = {};  // the node whose right child it is
  };

  struct Split {
    double gain = -1;  // in units that are the same within a node
    std::size_t dimension = 0;
    double low = 0, high = 0;   // positions to cut between
    std::size_t left_ends = 0;  // categories: the first so many of ordered_ go left
    bool inactive_left = false;
    bool inactive_known = false;
  };

  // A sum over some observations; targets are differences from the node's mean.
  struct Sum {
    double weight = 0, target = 0;
    void add(const Sum& other) {
      weight += other.weight;
      target += other.target;
    }
  };

  void draw_sample();
  void grow(const Range& range, std::vector<Range>& open);
  std::optional<Split> best_split(const Range& range);
  void try_positions(const Range& range, std::size_t dimension, Split& best);
  void try_categories(const Range& range, std::size_t dimension, Split& best);
  void group_categories(const Range& range, std::size_t dimension);
  double gain(const Sum& left) const;
  void cut(const Range& range, const Split& split, Forest::Node& node);
  std::size_t partition(const Range& range, const Forest::Node& node);

  Forest& forest_;
  std::span<const double> targets_;
  Rng& rng_;
  std::size_t count_;
  std::vector<double> columns_;  // dimension by dimension
  std::vector<List> orders_;     // by value, inactive last; empty for a dimension of categories
  List all_;

  // Of one tree.
  std::vector<double> weights_;  // how often each observation was drawn
  std::vector<List> lists_;
  List members_;

  // Of one node.
  std::vector<Sum> parts_;  // of each observation
  double weight_ = 0;
  std::vector<std::size_t> dimensions_;
  std::vector<Sum> groups_;  // of each category; inactive is the last
  std::vector<std::size_t> ordered_;
  std::vector<std::uint8_t> goes_left_;
  List others_;
};

}  // namespace attune
