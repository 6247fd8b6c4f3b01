#pragma once
// The members of a population in the order of their losses, and the quantiles at both ends.
#include <cstddef>
#include <optional>
#include <vector>

namespace attune {

// Members are numbers from 0. Of equal losses, that of the lower number is worse. No NaN.
//
// The members stand in one sorted vector: a change moves part of it, which is a few kilobytes for a
// population of hundreds, and 80 kilobytes for 10^4 members.
class PopulationRanks {
 public:
  void set(std::size_t member, double loss);  // adds the member, or moves it
  void erase(std::size_t member);             // does nothing for an unknown one
  std::size_t size() const { return order_.size(); }

  // Of a member: 1 for the best, size() for the worst.
  std::size_t rank(std::size_t member) const;
  // How many members are in each quantile: fraction * size, rounded up; but half of them at most,
  // and nobody of a single one.
  std::size_t count(double fraction) const;

  // Whether the member is among the `count` worst or best ones.
  bool is_worst(std::size_t member, std::size_t count) const;
  bool is_best(std::size_t member, std::size_t count) const;
  // The `count` worst or best ones. Both lists begin with their worst.
  std::vector<std::size_t> worst(std::size_t count) const;
  std::vector<std::size_t> best(std::size_t count) const;
  // Of the `count` best ones that with this index in best().
  std::size_t best_at(std::size_t index, std::size_t count) const;

 private:
  struct Ranked {
    double loss;
    std::size_t member;
  };
  std::optional<std::size_t> place_of(std::size_t member) const;
  std::size_t place_of(const Ranked& wanted) const;  // where it stands, or would

  std::vector<Ranked> order_;                   // the worst first
  std::vector<std::optional<double>> loss_of_;  // of each member; nothing: not ranked
};

}  // namespace attune
