#pragma once
// What a loss at one level of training says about the loss at a higher one.
//
// Each step between neighbouring levels is a line, fitted by least squares to the trials that were
// seen at both levels. Only good trials get far, so plain averages of two levels compare different
// trials; differences within a trial do not. The slope is drawn towards 0.8: trials keep most, not
// all, of their differences. If an early level says nothing about the later one, the slope falls to
// 0, and all trials look alike there.
#include <cstddef>
#include <span>
#include <vector>

namespace attune {

class LevelMap {
 public:
  // `losses`: one row for each trial, one number for each level; NaN or infinite where the trial
  // was not seen or has failed. Their squares must be finite. O(trials levels).
  LevelMap(std::span<const std::vector<double>> losses, std::size_t levels);

  // The highest level that some trial reached after it had been seen at the level below.
  std::size_t top() const { return top_; }
  // The loss at top() that the line predicts from the loss at `level`. Above top() it is unchanged.
  double to_top(double loss, std::size_t level) const;

 private:
  struct Line {
    double slope = 1, offset = 0;
  };
  std::vector<Line> lines_;  // from level k to k + 1
  std::size_t top_ = 0;
};

}  // namespace attune
