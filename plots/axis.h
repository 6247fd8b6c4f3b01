#pragma once
// Where values stand on an axis, and its ticks.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace attune::plots {

enum class Scale { linear, logarithmic };

struct Tick {
  double value = 0;
  std::string text;
};

// A value.
class Axis {
 public:
  // From low to high, finite numbers; positive ones on a logarithmic scale. Where high is not above
  // low, the range is widened around them.
  Axis(double low, double high, Scale scale = Scale::linear);

  // Around the finite values (on a logarithmic scale the positive ones), with a margin of 4 % at
  // each end. Without any from 0 to 1, or 1 to 10.
  static Axis around(std::span<const double> values, Scale scale = Scale::linear);
  // Of the indices of these names, which may be any text.
  static Axis of_names(std::vector<std::string> names);

  // Ticks at integers only, as for numbers of trials.
  Axis whole() &&;

  double low() const { return low_; }
  double high() const { return high_; }
  Scale scale() const { return scale_; }
  bool has_names() const { return !names_.empty(); }
  const std::vector<std::string>& names() const { return names_; }

  // 0 at low, 1 at high; outside of [0, 1] for what lies outside, but not beyond [-9, 10]. NaN for
  // what has no place: not a finite number, or not a positive one on a logarithmic scale.
  double place(double value) const;

  // At round values within the axis, ascending: at most about `most` >= 2, at least one. Names: at
  // every name, or at evenly spaced ones.
  std::vector<Tick> ticks(std::size_t most) const;

 private:
  double low_, high_;
  Scale scale_;
  bool whole_ = false;
  std::vector<std::string> names_ = {};
};

// The number as a person writes it: at most so many significant digits, an exponent only for what
// is very large or small.
std::string number_text(double value, int digits = 4);

}  // namespace attune::plots
