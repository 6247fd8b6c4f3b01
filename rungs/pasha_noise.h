#pragma once
// How noisy learning curves are: the epsilon of PASHA. Two trials whose order changed and changed
// back are too close to be told apart, and their present difference measures the noise.
//
// Source: Bohdal et al., "PASHA: Efficient HPO and NAS with Progressive Resource Allocation" (ICLR
// 2023), section 4.2, as in Syne Tune. There each report costs time in proportion to the square of
// the number of trials. Here only the first 128 trials that get between the two rungs are compared:
// their 8128 pairs tell as much, and of 10^5 trials most reports cost nothing.
//
// A pair counts once, at the highest resource that both have reported. In Syne Tune it may count
// twice, where the iteration order of two sets of Python differs.
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"

namespace attune {

// Not thread safe.
class PashaNoise {
 public:
  static constexpr std::size_t kMost = 128;

  // From now on pairs count whose highest common resource is in (low, high].
  void set_window(double low, double high);
  // Ignored if the trial has reported this resource, or a higher one, before. The loss is finite.
  void report(TrialId trial, double resource, double loss);
  // The trial will report no more. Its curve is kept only if it is compared with others.
  void end(TrialId trial);

  // The 90th percentile of the differences of pairs whose order changed and changed back; the
  // former value while there is no such pair, and 0 at first.
  double epsilon() const { return epsilon_; }

  json save() const;
  Result<void> load(const json& state);  // all or nothing; the window is not part of the state

 private:
  struct Report {
    double resource = 0, loss = 0;
  };
  using Curve = std::vector<Report>;  // by ascending resource
  struct Pair {
    std::size_t next_a = 0, next_b = 0;  // what of the two curves is not yet compared
    bool a_is_better = false;
    int runs = 0;  // of equal order: 3 if it changed and changed back
    std::optional<double> difference = {};
  };

  void compare(TrialId trial);
  void advance(Pair& pair, const Curve& a, const Curve& b) const;
  Pair& pair_of(std::size_t i, std::size_t j);
  void estimate();

  double low_ = 0, high_ = 0;
  std::map<TrialId, Curve> curves_;
  std::vector<TrialId> compared_;
  std::map<TrialId, std::size_t> index_;  // in compared_
  std::vector<Pair> pairs_;               // of the trials i < j in compared_, at j (j - 1) / 2 + i
  double epsilon_ = 0;
};

}  // namespace attune
