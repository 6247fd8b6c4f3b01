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

  // Of each result `objectives` numbers to minimise and then `limits` excesses: objectives.h.
  explicit History(std::size_t dimensions, std::size_t objectives = 1, std::size_t limits = 0)
      : dimensions_(dimensions), objectives_(objectives), width_(objectives + limits) {}

  std::size_t objectives() const { return objectives_; }
  std::size_t limits() const { return width_ - objectives_; }

  // `values`: objectives() + limits() finite numbers; they only count of the usable.
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

  // The rows of the given results, one after the other.
  std::vector<double> gather(std::span<const std::size_t> members) const;

  // The given results, ascending, the best first: the usable as in ranking(), objectives.h, then
  // the stopped, then the others. Of n with one or two objectives O(n log n), else up to O(n^2).
  std::vector<std::size_t> ranked(std::vector<std::size_t> members) const;

 private:
  std::size_t dimensions_, objectives_, width_, usable_ = 0;
  std::vector<double> rows_, values_;
  std::vector<Kind> kinds_;
};

// How results become targets: losses (math/gp/straighten.h), or excesses over a limit, which stays
// at 0: in units of their median distance from it, at most 3 of them.
enum class Scale { standardised, straightened, limit };

// `most` of `ranked`, best first: the first half of them, then every so-manieth; ascending.
std::vector<std::size_t> thinned(std::vector<std::size_t> ranked, std::size_t most);

// Of a history, ascending: the results that a model of at most `most` rows holds. The best half,
// and of the others every so-manieth.
std::vector<std::size_t> modelled(const History& history, std::size_t most);

// What ended without a result counts as the worst one, or, `softened`, as less bad the nearer it is
// to results: for models of smooth functions, to which a cliff amid good results is poison.
enum class Failures { worst, softened };

// Their targets of one objective or limit, by its number in values(); at least one of them must be
// usable. The worst is at least a limit that is not kept; what was stopped early is no better than
// the upper quartile. Of n members f without a result softened costs O(f n d).
std::vector<double> targets(const History& history, std::span<const std::size_t> members,
                            Scale scale, std::size_t output = 0,
                            Failures failures = Failures::softened);

}  // namespace attune
