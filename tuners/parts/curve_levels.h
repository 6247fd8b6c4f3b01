#pragma once
// The levels of training at which FreezeThaw compares trials. The last one is the end of a full
// training.
//
// Where that is, the user says, or the trials show it: the first one that ends by itself. Until
// then the last level is one that no trial has reached.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// A value. Resources count from 1; each level is `factor` (> 1) times the one before, rounded.
class CurveLevels {
 public:
  // The largest resource that is taken for one.
  static constexpr double kMost = 1e9;

  // A full training goes to `most`, from 1 to kMost.
  CurveLevels(std::int64_t most, double factor);
  // Nobody says where it goes to.
  explicit CurveLevels(double factor);

  const std::vector<double>& all() const { return all_; }  // ascending, at least one
  std::size_t last() const { return all_.size() - 1; }
  bool learns() const { return !given_; }  // where a full training ends
  // Where it ends, given or learnt. Infinity: nobody knows.
  double end() const;
  std::size_t within(double resource) const;  // how many levels it reaches
  // The first level above a resource; the last one if there is none.
  std::size_t after(double resource) const;

  // A trial has reached this resource, or has ended there by itself. If that changes the levels,
  // the result is how many of the first ones stay; the last one still stands for the end.
  std::optional<std::size_t> reach(double resource);
  std::optional<std::size_t> end_at(double resource);

  json save() const;
  // Into levels that were made with the same arguments. On an error nothing changes.
  Result<void> load(const json& state);

 private:
  std::optional<std::size_t> set_levels();

  double factor_;
  std::optional<double> given_;  // the end of a full training
  std::vector<double> all_ = {1};
  double most_reached_ = 0;
  double ended_at_ = 0;  // the largest resource at which a trial has ended; 0: none has
};

}  // namespace attune
