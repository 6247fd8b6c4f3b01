#pragma once
// Enumerates a space on an ever finer grid, in the order of NNI's GridSearch (v2.6 and later):
// epoch 0 has every candidate and integer, and the median of every real; each later epoch halves
// the intervals between the grid values of the reals, and visits what is new, last parameter
// fastest. A finite space is visited exactly once; a continuous one ends only when no double is
// left between the grid values.
//
// NNI ends as soon as one epoch has no new value, even if rounded values are left in some interval.
// This goes on until none is left.
#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "space/grid_axis.h"
#include "space/space.h"

namespace attune {

// Not thread safe. Holds a copy of the space.
//
// next() costs O(parameters): combinations of an earlier epoch are jumped over, not walked through.
// The first call of an epoch also computes the new grid values. Memory: 8 bytes for each grid value
// of a real, 16 for each interval; both double with each epoch.
class Grid {
 public:
  explicit Grid(Space space);

  // The next point, or nothing, forever, when there is no new grid value. Equal candidates of a
  // choice are visited once, as the first of them.
  std::optional<Point> next();

  // The position, not the points: one integer for each parameter. load() is all or nothing, assumes
  // the same space, computes the grid values again, and refuses a position at which a real has more
  // than 2^20 of them.
  json save() const;
  Result<void> load(const json& state);

 private:
  // Whether parameters behind this one have new values.
  struct Growth {
    bool later = false;                   // yes, whatever value this parameter takes
    std::vector<std::uint64_t> branches;  // yes, inside these options of a nested choice; ascending
  };

  bool advance();  // to the next vector of the epoch; false: there is none
  bool refine();   // to the next epoch; false: there is none
  void find_growth();
  void fill(std::size_t first, bool fresh);
  void set(std::size_t i, std::uint64_t k);
  bool is_new(std::size_t i) const { return vector_[i] >= old_sizes_[i]; }
  std::optional<std::uint64_t> next_index(std::size_t i, std::uint64_t from, bool fresh) const;

  Space space_;
  std::vector<GridAxis> axes_;
  std::vector<std::uint64_t> old_sizes_;  // of the axes, in the previous epoch
  std::vector<Growth> growth_;
  std::vector<std::uint64_t> vector_;  // indices into the axes; 0 where inactive
  Point point_;                        // what vector_ stands for
  std::uint64_t epoch_ = 0;
  bool started_ = false;  // vector_ is a vector of this epoch
  bool done_ = false;
};

}  // namespace attune
