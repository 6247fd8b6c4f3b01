#pragma once
// The results that a model of the losses learns from.
#include <cstddef>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "tuners/tuner.h"

namespace attune {

// Results in the order of their arrival, with their points encoded (space/features.h).
class History {
 public:
  enum class Kind { usable, stopped, useless };
  static Kind kind_of(const Outcome& outcome);

  explicit History(std::size_t dimensions) : dimensions_(dimensions) {}

  // `loss` only counts of the usable, and is finite.
  void add(std::span<const double> row, Kind kind, double loss);
  std::size_t size() const { return losses_.size(); }
  std::size_t usable() const { return usable_; }
  std::span<const double> row(std::size_t i) const {
    return std::span(rows_).subspan(i * dimensions_, dimensions_);
  }
  Kind kind(std::size_t i) const { return kinds_[i]; }
  double loss(std::size_t i) const { return losses_[i]; }

  // The rows of the given results, one after the other.
  std::vector<double> gather(std::span<const std::size_t> members) const;

 private:
  std::size_t dimensions_, usable_ = 0;
  std::vector<double> rows_, losses_;
  std::vector<Kind> kinds_;
};

// How losses become targets (math/straighten.h).
enum class Scale { standardised, straightened };

// `most` of `ranked`, best first: the first half of them, then every so-manieth; ascending.
std::vector<std::size_t> thinned(std::vector<std::size_t> ranked, std::size_t most);

// Of a history, ascending: the results that a model of at most `most` rows holds. The best half,
// and of the others every so-manieth.
std::vector<std::size_t> modelled(const History& history, std::size_t most);

// Their targets, of which at least one must be usable. What ended without a result is no better
// than the worst, what was stopped early than the upper quartile.
std::vector<double> targets(const History& history, std::span<const std::size_t> members,
                            Scale scale);

}  // namespace attune
