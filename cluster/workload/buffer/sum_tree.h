#pragma once
// A binary tree over the weights of 0, 1, 2, ... leaves: draws a leaf in proportion to its weight
// in O(log n).
//
// Schaul et al., "Prioritized Experience Replay", ICLR 2016, appendix B.2.1: the "sum-tree", where
// the value of a parent is the sum of its children. The least weight stands beside each sum: it
// gives the largest importance weight (section 3.4).
//
// A parent is always made anew of its children, never moved by differences: the tree is a function
// of the leaves alone, whatever happened before, so that one that is filled with saved leaves goes
// on with every bit, and rounding does not add up. How large the tree once was does not matter
// either: to add leaves without weight is exact.
//
// A value; not thread safe.
#include <cstddef>
#include <limits>
#include <vector>

namespace attune {

class SumTree {
 public:
  // `weight` is finite and at least 0; 0 takes the leaf out. O(log n), grows when it must.
  void set(std::size_t leaf, double weight);
  double weight(std::size_t leaf) const;  // 0 where nothing was set

  double total() const;
  double least() const;  // of the weights above 0; infinite when there are none

  // The leaf in whose interval `mass` lies, when the intervals of all leaves, as long as their
  // weights, are laid beside each other from 0 on. Always a leaf with a weight above 0, also where
  // rounding has made `mass` reach the end. The total must be above 0, `mass` at least 0.
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
