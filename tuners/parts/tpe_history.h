#pragma once
// The trials of multivariate TPE that have ended: encoded once when they are told, and kept in the
// order of their losses for each group, so that a suggestion neither sorts nor rescans. With
// several objectives or limits the order is that of ranking() in objectives.h, and made anew when
// results have come. Trials without a usable result are the worst of all. Private to TPE.
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

  // `values` as Objectives has them, finite. The point may have gaps (Tuner::takes_gaps). Of a
  // single objective one costs a search and a move of 4 bytes per worse trial for each of its
  // groups.
  void add(const Point& point, std::span<const double> values);

  // A trial that failed, diverged, was stopped or lacks a number.
  void add_failed(const Point& point);

  // To be called before by_loss() when results were added: of several objectives they count as the
  // worst until this ranks all anew, which it does when they have become more by a twentieth.
  void rank();

  // A trial's coordinates, one for each variable; NaN where that is inactive or a gap.
  const Coordinate* coordinates(std::uint32_t trial) const {
    return &coordinates_[trial * groups_.variables().size()];
  }

  // The trials in which the group is active, losses ascending, equal ones by age; those without a
  // usable result at the end.
  const std::vector<std::uint32_t>& by_loss(std::size_t group) const { return orders_[group]; }
  // How many of them have a usable result.
  std::size_t usable(std::size_t group) const { return usable_[group]; }

  json save() const;
  // Into an empty history of the same space; on an error it is to be thrown away.
  Result<void> load(const Space& space, const json& state);

 private:
  void insert(const Point& point, double loss, std::span<const double> values);
  void rank_now();
  bool one_number() const { return objectives_.size() + objectives_.limits() == 1; }

  Objectives objectives_;
  TpeGroups groups_;
  std::size_t ranked_ = 0;       // of the results, in the ranks
  std::vector<double> losses_;   // in the order of arrival, as the next three; or ranks
  std::vector<double> results_;  // of several objectives and limits; infinite where there is none
  std::vector<double> values_;   // of points, for saving
  std::vector<Coordinate> coordinates_;
  std::vector<std::vector<std::uint32_t>> orders_;  // of groups
  std::vector<std::size_t> usable_;                 // of groups
};

}  // namespace attune
