#pragma once
// The results of FreezeThaw's configurations at the levels of training.
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "math/curves/level_map.h"

namespace attune {

// How many numbers a result has: the loss of each objective, and then by how much it exceeds each
// limit (to_minimise() in base/standing.h).
struct CurveShape {
  std::size_t objectives = 1, limits = 0;

  std::size_t width() const { return objectives + limits; }
  bool is_loss() const { return width() == 1; }  // nothing but a loss
};

// A value. Not thread safe.
class CurveResults {
 public:
  // Numbers beyond this count as this, so that sums of their squares are finite.
  static constexpr double kLargest = 1e100;

  struct Observation {
    std::size_t number = 0, level = 0;  // of the configuration
  };

  CurveResults(CurveShape shape, std::size_t levels);

  const CurveShape& shape() const { return shape_; }
  std::size_t levels() const { return levels_; }
  std::size_t size() const { return size_; }  // configurations

  void add();
  // The first result of a configuration at a level counts. One with a number that is not finite: it
  // failed there.
  void observe(std::size_t number, std::size_t level, std::span<const double> result);

  const std::vector<Observation>& seen() const { return seen_; }  // as they came, failures included
  std::size_t usable() const { return usable_; }                  // of them, without failures
  // How many configurations keep all limits at this level.
  std::size_t kept(std::size_t level) const { return kept_[level]; }

  // The first objective. NaN: there is no result yet. Infinity: it failed.
  double loss(std::size_t number, std::size_t level) const { return values_[0][number][level]; }
  bool is_finite(std::size_t number, std::size_t level) const;
  // Of a result that has not failed.
  std::vector<double> at(std::size_t number, std::size_t level) const;
  double violation(std::size_t number, std::size_t level) const;  // base/standing.h
  std::optional<std::size_t> highest(std::size_t number) const;   // level with a finite result

  // Maps the losses to the highest known level: as of the last map().
  void map();
  // Of a result that has not failed. The excesses are not mapped: whether a trial keeps a limit is
  // judged at each level by what was measured there.
  double mapped_loss(std::size_t objective, const Observation& one) const;
  void append_mapped(const Observation& one, std::vector<double>& rows) const;

  // Only where a result is a loss: the `most` configurations whose highest results map to the
  // lowest losses, and these losses, in ascending order. O(levels() most), however many
  // configurations there are.
  std::vector<std::pair<double, std::size_t>> lowest(std::size_t most) const;

  json save() const;
  // Into results that were made with the same arguments. `mapped`: so many of them were known at
  // the last map(). `count`: of the configurations.
  Result<void> load(const json& state, std::size_t count, std::size_t mapped);

 private:
  using Table = std::vector<std::vector<double>>;  // of each configuration, at each level

  CurveShape shape_;
  std::size_t levels_, size_ = 0, usable_ = 0;
  std::vector<Table> values_;  // of each number of a result; NaN: none; infinite: failed
  std::vector<Observation> seen_;
  std::vector<std::size_t> kept_;  // at each level
  std::vector<LevelMap> maps_;     // of each objective
  // Where a result is a loss, for each level: those whose highest finite loss is there.
  std::vector<std::set<std::pair<double, std::size_t>>> leaders_;
};

}  // namespace attune
