// Median stopping rule: stops a trial at step n if its best result so far is worse than a median.
// The median is taken over the completed trials that got as far, of their average result up to step
// n.
//
// Source: Golovin et al., "Google Vizier: A Service for Black-Box Optimization" (KDD 2017), section
// 3.2.1. As in NNI, of an even number of averages the worse of the middle two counts.
//
// Cost: a report is O(1) (a repeated step: the length of the history). The end of a completed trial
// is O(log trials) for each of its steps. Memory: 8 to 16 bytes for each step of each completed
// trial, which is 80 to 160 MB for 10^5 trials of 100 steps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "assessors/loss.h"
#include "assessors/registry.h"
#include "base/saved_numbers.h"
#include "math/running_median.h"

namespace attune {
namespace {

// Results that are not finite, or lack the metric, count neither for bests nor for averages.
class Medianstop final : public Assessor {
 public:
  Medianstop(Objective objective, std::size_t start_step, std::size_t start_trials)
      : objective_(std::move(objective)), start_step_(start_step), start_trials_(start_trials) {}

  Decision assess(TrialId trial, std::span<const Report> reports) override {
    Running& running = running_[trial];
    if (reports.size() <= running.losses.size()) running = {};  // a step was reported again
    for (const Report& report : reports.subspan(running.losses.size())) {
      running.losses.push_back(loss_of(report, objective_));
      running.best = std::fmin(running.best, running.losses.back());  // fmin ignores NaN
    }

    const std::size_t n = reports.size();
    if (n < start_step_ || n == 0 || n > averages_.size()) return {trial, Action::keep_going, {}};
    const RunningMedian& averages = averages_[n - 1];
    // The best is infinite if the trial has no usable result yet.
    if (averages.size() < std::max<std::size_t>(start_trials_, 1) || !std::isfinite(running.best) ||
        running.best <= averages.upper_median()) {
      return {trial, Action::keep_going, {}};
    }
    return {trial, Action::stop, reason(running.best, n, averages)};
  }

  void trial_end(TrialId trial, End end) override {
    const auto found = running_.find(trial);
    if (found == running_.end()) return;
    if (end == End::completed) add_averages(found->second.losses);
    running_.erase(found);
  }

  json save() const override {
    json running = json::array();
    for (const auto& [trial, state] : running_) {
      running.push_back({{"trial", trial}, {"losses", save_numbers(state.losses)}});
    }
    json averages = json::array();
    for (const RunningMedian& step : averages_) averages.push_back(save_numbers(step.values()));
    return {{"running", running}, {"averages", averages}};
  }

  Result<void> load(const json& state) override {
    std::map<TrialId, Running> running;
    for (const json& item : TRY(array_at(state, "running"))) {
      Running& one = running[TRY(integer_at(item, "trial"))];
      one.losses = TRY(numbers_at(item, "losses"));
      for (const double loss : one.losses) one.best = std::fmin(one.best, loss);
    }
    std::vector<RunningMedian> averages;
    for (const json& item : TRY(array_at(state, "averages"))) {
      const auto saved = TRY(numbers(item));
      auto step = RunningMedian::restore(saved);
      if (!step || !std::ranges::all_of(saved, [](double x) { return std::isfinite(x); })) {
        return fail("Medianstop: averages must be finite, and as they were saved");
      }
      averages.push_back(*std::move(step));
    }
    running_ = std::move(running);
    averages_ = std::move(averages);
    return {};
  }

 private:
  struct Running {
    std::vector<double> losses;  // by step; NaN: no result
    double best = std::numeric_limits<double>::infinity();
  };

  void add_averages(const std::vector<double>& losses) {
    if (averages_.size() < losses.size()) averages_.resize(losses.size());
    double sum = 0;
    int count = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      if (!std::isnan(losses[i])) {
        sum += losses[i];
        ++count;
      }
      const double average = sum / count;
      if (std::isfinite(average)) averages_[i].insert(average);
    }
  }

  std::string reason(double best, std::size_t n, const RunningMedian& averages) const {
    return fmt::format("best {:.6g} by step {} is {} the median {:.6g} of {} completed trials",
                       sign_of(objective_) * best, n - 1, objective_.maximize ? "below" : "above",
                       sign_of(objective_) * averages.upper_median(), averages.size());
  }

  Objective objective_;
  std::size_t start_step_;
  // So many trials must complete before any is stopped. Compared with a single good trial, nearly
  // every other one is worse and is stopped, so it never becomes one of the completed trials. An
  // experiment that tries a good default first would stop nearly all later trials.
  std::size_t start_trials_;
  std::map<TrialId, Running> running_;
  // [n - 1]: averages over the first n results, one for each completed trial that got as far.
  std::vector<RunningMedian> averages_;
};

}  // namespace

extern const AssessorEntry medianstop_entry = {
    .name = "Medianstop",
    .aliases = {},
    .summary = "stops a trial whose best result is worse than the median of completed trials",
    .arguments = {{.name = "start_step",
                   .type = Argument::Type::integer,
                   .fallback = 0,
                   .help = "judge a trial only from this number of results on",
                   .low = 0,
                   .high = 1e9},
                  {.name = "start_trials",
                   .type = Argument::Type::integer,
                   .fallback = 0,
                   .help =
                       "stop nothing until this number of trials has completed; NNI's rule is 0",
                   .low = 0,
                   .high = 1e9}},
    .maximizes = true,
    .make = [](const json& args, const Context& context, Rng) -> Result<std::unique_ptr<Assessor>> {
      return std::make_unique<Medianstop>(context.objectives.at(0),
                                          args["start_step"].get<std::size_t>(),
                                          args["start_trials"].get<std::size_t>());
    }};

}  // namespace attune
