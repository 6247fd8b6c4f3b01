#pragma once
// A binary tree over the weights of the leaves 0, 1, 2, ...: draws a leaf in proportion to its
// weight in O(log n).
//
// Schaul et al., "Prioritized Experience Replay", ICLR 2016, appendix B.2.1: the "sum-tree", where
// the value of a parent is the sum of its children. Each node also holds the least weight below it,
// which gives the largest importance weight (section 3.4).
//
// A parent is always computed anew from its children, never changed by a difference. So the tree
// depends on its leaves alone, whatever happened before: one that is filled with saved leaves
// continues with every bit, and rounding errors do not add up. Nor does it matter how large the
// tree once was: to add leaves without weight is exact.
#include <cstddef>
#include <limits>
#include <vector>

namespace attune {

class SumTree {
 public:
  // `weight` must be finite and at least 0; 0 takes the leaf out. O(log n); the tree grows if it
  // must.
  void set(std::size_t leaf, double weight);
  double weight(std::size_t leaf) const;  // 0 where nothing was set

  double total() const;
  double least() const;  // least weight above 0; infinite: there is none

  // Lays intervals as long as the leaves' weights side by side, from 0 on, and returns the leaf in
  // whose interval `mass` lies. Always a leaf with a weight above 0, even if rounding makes `mass`
  // reach the end. The total must be above 0, `mass` at least 0.
  std::size_t find(double mass) const;

 private:
  struct Node {
    double sum = 0;
    double least = std::numeric_limits<double>::infinity();
    bool operator==(const Node&) const = default;
  };
  void grow(std::size_t leaf);
  void make_of_children(std::size_t node);

  // nodes_[1] is the root, 2i and 2i + 1 are the children of i, the leaves begin at half.
  std::vector<Node> nodes_;
};

}  // namespace attune
