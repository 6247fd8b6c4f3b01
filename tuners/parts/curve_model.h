#pragma once
// A model of how trials end, learnt from their losses at several levels of training.
//
// A Gaussian process over the configuration and the level (Swersky, Snoek, Adams, "Freeze-Thaw
// Bayesian Optimization", 2014, models both, too). Its targets are losses that a LevelMap
// (math/curves/level_map.h) has mapped to the highest known level. So the process need not learn
// that losses fall while a trial trains, only how a trial departs from what is usual. Part of that
// departure is the trial's own: no neighbour has it, but its later levels do. So the number of the
// trial is a dimension, too, in which two trials are equal or not. Without it a trial that is much
// better than its neighbours would count as noise. Once five trials were trained in full the
// dimension goes: what the process ascribes to single trials it does not learn of configurations,
// and the best of these are found later (docs/early-stopping.md has the measurement).
//
// Of several objectives and limits the targets are one number for each result (CurveTradeoff), with
// other weights for each decision. New weights change the targets alone: the parameters stay those
// of the last fit, whose weights were others.
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "math/gp/gaussian_process.h"
#include "space/features.h"
#include "tuners/parts/curve_results.h"
#include "tuners/parts/curve_tradeoff.h"

namespace attune {

// A value. Not thread safe. The same calls give exactly the same numbers.
class CurveModel {
 public:
  // A fit takes at most so many results; up to a tenth more are added until the next one.
  static constexpr std::size_t kMostRows = 400;

  // `levels`: resources, ascending, at least one, the last of them a full training.
  CurveModel(const Features& features, CurveShape shape, std::span<const double> levels);

  // The same configurations with other levels. The results at the first `kept` levels and at the
  // last one stay. That of another level counts for the level below it, if the configuration has
  // none there. Like a new model it is to be updated.
  CurveModel with_levels(std::span<const double> levels, std::size_t kept) const;

  std::size_t levels() const { return positions_.size(); }
  std::size_t size() const { return rows_.size(); }  // configurations

  // Adds a configuration (encoded), and returns its number: 0, 1, ...
  std::size_t add(std::span<const double> row);
  const std::vector<double>& row(std::size_t number) const { return rows_[number]; }
  // See CurveResults.
  void observe(std::size_t number, std::size_t level, std::span<const double> result) {
    results_.observe(number, level, result);
  }
  void observe(std::size_t number, std::size_t level, double loss) {
    observe(number, level, {&loss, 1});
  }
  const CurveResults& results() const { return results_; }
  double loss(std::size_t number, std::size_t level) const { return results_.loss(number, level); }
  // That at the highest level where it has not failed.
  std::optional<std::vector<double>> last_result(std::size_t number) const;
  std::size_t observations() const { return results_.seen().size(); }
  std::size_t usable() const { return results_.usable(); }
  // Whether a result of the configuration breaks a limit at its highest level, and that of another
  // one keeps all there.
  bool is_hopeless(std::size_t number) const;

  // Takes in the new observations. There must be a usable one. `weights`: of the objectives, until
  // the next update(); empty: the former ones.
  void update(std::span<const double> weights = {});
  // So many trials will reach these levels soon: see GaussianProcess::set_targets(). Forgotten at
  // the next update().
  struct Awaited {
    std::size_t number = 0;  // of the configuration
    std::size_t level = 0;
  };
  void await(std::span<const Awaited> trials);

  // As of the last update(): a guess of the result at the end, without the process, from the
  // highest level where it has not failed. Nothing if there is none. Cheap, for choosing those that
  // are worth a prediction.
  std::optional<std::vector<double>> rough_result(std::size_t number) const;
  // Appends it; false: there is none.
  bool append_rough(std::size_t number, std::vector<double>& results) const;
  // The same as one number: CurveTradeoff.
  std::optional<double> rough_end(std::size_t number) const;
  // The guesses of the `most` configurations with the lowest ones, and their numbers, in ascending
  // order. O(levels() most), however many configurations there are; of several objectives and
  // limits O(size()).
  std::vector<std::pair<double, std::size_t>> promising(std::size_t most) const;

  // A configuration at a level, as the process takes it: one that has a number, or a new one. There
  // are kOwnInputs more dimensions than the configuration has, behind these.
  static constexpr std::size_t kOwnInputs = 2;
  std::vector<double> at(std::size_t number, std::size_t level) const;
  std::vector<double> at(std::span<const double> row, std::size_t level) const;
  // Fitted by update(); predicts targets, which are standardised losses.
  const GaussianProcess& process() const { return process_; }

  // The caller keeps the rows. load() must be called on a model that was made with the same
  // arguments; `rows` are those of all configurations. On an error nothing changes.
  json save() const;
  Result<void> load(const json& state, std::span<const std::vector<double>> rows);

 private:
  using Observation = CurveResults::Observation;
  CurveModel(std::vector<std::size_t> categories, CurveShape shape, std::vector<double> positions);

  std::vector<double> row_of(const Observation& one) const { return at(one.number, one.level); }
  std::vector<double> gather(std::span<const std::size_t> members) const;
  std::vector<double> targets();
  std::vector<std::size_t> ranked() const;
  bool needs_numbers(std::size_t observations) const;
  void map();
  void fit();

  std::vector<std::size_t> categories_;    // of each dimension, level and number included
  std::vector<double> positions_;          // of each level, in [0, 1]
  std::vector<std::vector<double>> rows_;  // of each configuration
  CurveResults results_;
  CurveTradeoff tradeoff_;
  GaussianProcess process_;
  std::vector<std::size_t> members_;  // indices in results_.seen() of the process's rows
  std::size_t known_ = 0;             // observations at the last update
  std::size_t mapped_ = 0;            // observations that the maps are made of
  std::size_t fitted_at_ = 0;         // observations at the last fit
  std::size_t fits_ = 0;
  bool tells_trials_apart_ = false;  // as of the last fit
};

}  // namespace attune
