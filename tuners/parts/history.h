#pragma once
// The results that a model learns from, and how they become the model's rows and targets.
#include <cstddef>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "tuners/tuner.h"

namespace attune {

// The results in the order of their arrival; their points are encoded (space/features.h).
class History {
 public:
  enum class Kind { usable, stopped, useless };  // useless: failed, diverged or without a metric

  // Each result has `objectives` numbers to minimise and then `limits` excesses: see objectives.h.
  explicit History(std::size_t dimensions, std::size_t objectives = 1, std::size_t limits = 0)
      : dimensions_(dimensions), objectives_(objectives), width_(objectives + limits) {}

  std::size_t objectives() const { return objectives_; }
  std::size_t limits() const { return width_ - objectives_; }

  // `values`: objectives() + limits() finite numbers. They are ignored unless the kind is usable.
  void add(std::span<const double> row, Kind kind, std::span<const double> values);
  void add(std::span<const double> row, Kind kind, double loss) { add(row, kind, {&loss, 1}); }

  std::size_t size() const { return kinds_.size(); }
  std::size_t usable() const { return usable_; }
  std::span<const double> row(std::size_t i) const {
    return std::span(rows_).subspan(i * dimensions_, dimensions_);
  }
  Kind kind(std::size_t i) const { return kinds_[i]; }
  std::span<const double> values(std::size_t i) const {
    return std::span(values_).subspan(i * width_, width_);
  }
  double loss(std::size_t i) const { return values_[i * width_]; }

  // The rows of the given results, in this order, in one vector.
  std::vector<double> gather(std::span<const std::size_t> members) const;

  // Sorts the given results (ascending indices), the best first: the usable ones as by ranking() in
  // objectives.h, then the stopped ones, then the others. Costs O(n log n) with one or two
  // objectives, otherwise up to O(n^2).
  std::vector<std::size_t> ranked(std::vector<std::size_t> members) const;

 private:
  std::size_t dimensions_, objectives_, width_, usable_ = 0;
  std::vector<double> rows_, values_;
  std::vector<Kind> kinds_;
};

// How numbers become targets of a model. Losses are standardised or straightened
// (math/gp/straighten.h). An excess over a limit is divided by the median of the absolute excesses,
// and clipped to [-3, 3]; 0 stays 0, the border of the limit.
enum class Scale { standardised, straightened, limit };

// A scale of losses that were raised to a power before (math/gp/powers.h).
struct Scaling {
  Scaling(Scale its_scale, double its_power = 1) : scale(its_scale), power(its_power) {}
  Scale scale;
  double power;  // all usable losses are positive unless it is 1
};

// Picks at most `most` elements of `ranked` (best first): the best most / 2, and evenly spaced ones
// of the rest. Returns them in ascending order of index.
std::vector<std::size_t> thinned(std::vector<std::size_t> ranked, std::size_t most);

// The results that a model of at most `most` rows holds, ascending: all, or as thinned() picks
// them.
std::vector<std::size_t> modelled(const History& history, std::size_t most);

// The members that a model of a smooth function holds: a failed trial amid results, with at most
// one other failure nearer than they are, is taken for an accident and left out. So the search
// comes back to its place. At least one member must be usable; with f failed ones among n this
// costs O(f n d).
std::vector<std::size_t> without_accidents(const History& history,
                                           std::span<const std::size_t> members);

// How a failed trial becomes a target. `worst`: it has the worst target. `softened`: it is less bad
// the nearer it is to results. Softening is for models of smooth functions, which a single very bad
// value amid good ones spoils.
enum class Failures { worst, softened };

// The targets of `members` for one objective or limit: `output` is its index in values(). At least
// one member must be usable. A stopped trial gets the upper quartile. A failed one gets the worst
// target or a softened one; for a limit the worst is at least 1, so that it counts as broken. With
// f failed ones among n members, softening costs O(f n d).
std::vector<double> targets(const History& history, std::span<const std::size_t> members,
                            const Scaling& scaling, std::size_t output = 0,
                            Failures failures = Failures::softened);

}  // namespace attune
