#pragma once
// The ended trials of multivariate TPE. They are encoded once when they are told, and each group
// keeps its trials in the order of their losses, so that a suggestion neither sorts nor rescans.
// With several objectives or limits the order is that of ranking() in objectives.h, and rank()
// renews it. Trials without a usable result come last. Private to TPE.
#include <cstdint>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "tuners/parts/objectives.h"
#include "tuners/parts/tpe_groups.h"
#include "tuners/tuner.h"

namespace attune {

// Not thread safe. At most 2^32 - 1 trials.
class TpeHistory {
 public:
  using Coordinate = TpeGroups::Coordinate;

  TpeHistory() = default;
  explicit TpeHistory(const Space& space, const Objectives& objectives = {})
      : objectives_(objectives),
        groups_(space),
        orders_(groups_.groups().size()),
        usable_(groups_.groups().size()) {}

  const TpeGroups& groups() const { return groups_; }
  std::size_t size() const { return losses_.size(); }

  // `values`: the finite numbers that Objectives returns. The point may have gaps
  // (Tuner::takes_gaps). With a single objective this costs, for each of the trial's groups, a
  // search and a move of 4 bytes per worse trial.
  void add(const Point& point, std::span<const double> values);

  // Adds a trial that failed, diverged, was stopped or lacks a number.
  void add_failed(const Point& point);

  // Call it before by_loss(). With several objectives or limits, new results count as worse than
  // all ranked ones until rank() ranks all results again, which it does when they have grown by a
  // twentieth.
  void rank();

  // The coordinates of a trial, one for each variable; NaN where the variable is inactive or a gap.
  const Coordinate* coordinates(std::uint32_t trial) const {
    return &coordinates_[trial * groups_.variables().size()];
  }

  // The trials in which the group is active, by ascending loss, equal ones by age; those without a
  // usable result at the end.
  const std::vector<std::uint32_t>& by_loss(std::size_t group) const { return orders_[group]; }
  // The number of trials in by_loss(group) that have a usable result.
  std::size_t usable(std::size_t group) const { return usable_[group]; }

  json save() const;
  // Loads into an empty history of the same space. After an error the history must not be used.
  Result<void> load(const Space& space, const json& state);

 private:
  void insert(const Point& point, double loss, std::span<const double> values);
  void rank_now();
  bool one_number() const { return objectives_.size() + objectives_.limits() == 1; }

  Objectives objectives_;
  TpeGroups groups_;
  std::size_t ranked_ = 0;  // how many results the last ranking had
  // In the order of arrival, as the next three. With several objectives or limits: ranks.
  std::vector<double> losses_;
  std::vector<double> results_;  // only of several objectives or limits; infinite if failed
  std::vector<double> values_;   // of the points, for save()
  std::vector<Coordinate> coordinates_;
  std::vector<std::vector<std::uint32_t>> orders_;  // of groups
  std::vector<std::size_t> usable_;                 // of groups
};

}  // namespace attune
