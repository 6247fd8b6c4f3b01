#pragma once
// What earlier experiments found, as models. Private to the tuners.
//
// Each task has a Gaussian process of its own. Its targets are the ranks of the losses, as
// quantiles of a normal distribution: tasks whose losses have different scales become comparable
// (Salinas, Shen, Perrone, "A Quantile-Based Approach for Hyperparameter Transfer Learning", ICML
// 2020, section 4: a Gaussian copula). Only the means of these processes are used.
#include <cstddef>
#include <span>
#include <vector>

#include "math/gp/gaussian_process.h"
#include "space/features.h"
#include "space/space.h"
#include "tuners/tuner.h"

namespace attune {

// The normal quantiles of the ranks: mean 0, lower is better. Equal losses get equal numbers.
std::vector<double> normal_scores(std::span<const double> losses);

// Immutable after the constructor, and then thread safe.
class EarlierModels {
 public:
  // A model has at most so many rows, picked by thinned().
  static constexpr std::size_t kMostRows = 100;
  // How many starts() a tuner asks for. Five help no more than two if the tasks are related, and
  // cost more if they are not.
  static constexpr std::size_t kStarts = 2;

  // `tasks` as in Tuner::learn_from(). Costs a fit for each task.
  EarlierModels(const Space& space, const Features& features, std::span<const EarlierTask> tasks);

  std::size_t size() const { return models_.size(); }
  // The mean of model i at each row (count x dimensions, row by row), in normal scores. Dimensions
  // that the task says nothing about have no influence.
  std::vector<double> means(std::size_t i, std::span<const double> rows) const;
  // At one row. Adds `weight` times the derivatives by positions to `gradient`.
  double mean(std::size_t i, std::span<const double> row, double weight,
              std::span<double> gradient) const;

  // At most `count` configurations of the tasks, to try first. Each is the one with which the best
  // chosen one of each task becomes best, by the means of the models, averaged over the tasks. Gaps
  // are filled with drawn values.
  std::vector<Point> starts(std::size_t count) const;

 private:
  struct Model {
    GaussianProcess process;
    std::vector<bool> known;  // of each dimension: whether a row of the task has a value
    std::vector<double> masked(std::span<const double> rows) const;
  };

  Space space_;
  Features features_;
  std::vector<Model> models_;
  std::vector<Point> candidates_;  // the best points of each task, complete and feasible
};

}  // namespace attune
