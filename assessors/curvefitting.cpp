// Curvefitting: stops a trial when the extrapolation of its learning curve to the last epoch leaves
// hardly a chance that it comes near the best completed trial.
//
// Source: Domhan, Springenberg, Hutter, "Speeding up Automatic Hyperparameter Optimization of Deep
// Neural Networks by Extrapolation of Learning Curves" (IJCAI 2015), section 3.3, with NNI's
// arguments. Near means: within (1 - threshold) times the larger of |best| and what the best trial
// gained between its first and its last result. For accuracies that is NNI's "below threshold *
// best". It also works for losses, whose best may be 0 or negative.
//
// Cost: a judgement is twelve least-squares fits of at most 100 results (report_forecast.h). A
// report that is not judged costs only the search for its newest result.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>

#include "assessors/loss.h"
#include "assessors/registry.h"
#include "assessors/report_forecast.h"
#include "base/saved_numbers.h"

namespace attune {
namespace {

// The chance below which a trial is stopped (delta of the paper).
constexpr double kHardlyAChance = 0.05;

struct Settings {
  std::size_t last_epoch = 20;
  std::size_t start_step = 6;
  double threshold = 0.95;
  std::size_t gap = 1;
};

// Results that are not finite, or lack the metric, are left out, but their epochs count.
class Curvefitting final : public Assessor {
 public:
  Curvefitting(Objective objective, const Settings& settings)
      : objective_(std::move(objective)), settings_(settings) {}

  Decision assess(TrialId trial, std::span<const Report> reports) override {
    Decision keep_going = {trial, Action::keep_going, {}};
    Running& running = running_[trial];
    running.first = first_loss(reports);
    running.last = first_loss(reports | std::views::reverse);

    const std::size_t n = reports.size();
    if (std::isnan(best_.last) || n < settings_.start_step || n >= settings_.last_epoch ||
        n < running.judged + settings_.gap) {
      return keep_going;
    }
    running.judged = n;
    const auto target = static_cast<double>(settings_.last_epoch);
    const auto forecast = forecast_reports(reports, objective_, target);
    if (!forecast) return keep_going;
    const double chance = forecast->probability_below(worst_near());
    if (!(chance < kHardlyAChance)) return keep_going;
    return {trial, Action::stop, reason(n, forecast->mean(), chance)};
  }

  void trial_end(TrialId trial, End end) override {
    const auto found = running_.find(trial);
    if (found == running_.end()) return;
    const Running& ended = found->second;
    // Every comparison with NaN is false. So the first completed trial with a result replaces the
    // initial best, which is NaN; a trial without a result never does.
    if (end == End::completed && !std::isnan(ended.last) && !(ended.last >= best_.last)) {
      best_ = ended;
    }
    running_.erase(found);
  }

  json save() const override {
    json running = json::array();
    for (const auto& [trial, state] : running_) {
      running.push_back({{"trial", trial},
                         {"results", save_numbers(std::array{state.first, state.last})},
                         {"judged", state.judged}});
    }
    return {{"running", running}, {"best", save_numbers(std::array{best_.first, best_.last})}};
  }

  Result<void> load(const json& state) override {
    std::map<TrialId, Running> running;
    for (const json& item : TRY(array_at(state, "running"))) {
      Running& one = running[TRY(integer_at(item, "trial"))];
      const std::int64_t judged = TRY(integer_at(item, "judged"));
      if (judged < 0) return fail("Curvefitting: a trial was judged before its first result");
      one.judged = static_cast<std::size_t>(judged);
      const std::vector<double> results = TRY(numbers_at(item, "results"));
      if (results.size() != 2) return fail("Curvefitting: a trial has a first and a last result");
      one.first = results[0];
      one.last = results[1];
    }
    const std::vector<double> best = TRY(numbers_at(state, "best"));
    if (best.size() != 2) return fail("Curvefitting: the best trial has a first and a last result");
    running_ = std::move(running);
    best_ = {.first = best[0], .last = best[1]};
    return {};
  }

 private:
  struct Running {
    double first = std::numeric_limits<double>::quiet_NaN();  // loss; NaN: none yet
    double last = std::numeric_limits<double>::quiet_NaN();
    std::size_t judged = 0;  // number of results at the last judgement
  };

  double first_loss(auto&& reports) const {
    double loss = std::numeric_limits<double>::quiet_NaN();
    for (const Report& report : reports) {
      loss = loss_of(report, objective_);
      if (!std::isnan(loss)) break;
    }
    return loss;
  }

  // The largest loss that is still near the best one.
  double worst_near() const {
    const double scale = std::max(std::abs(best_.last), std::abs(best_.first - best_.last));
    return best_.last + (1 - settings_.threshold) * scale;
  }

  std::string reason(std::size_t n, double predicted, double chance) const {
    return fmt::format(
        "epoch {}: {:.6g} is predicted for epoch {}, with a chance of {:.1f} % to be {} {:.6g}; "
        "the best trial has {:.6g}",
        n, sign_of(objective_) * predicted, settings_.last_epoch, 100 * chance,
        objective_.maximize ? "above" : "below", sign_of(objective_) * worst_near(),
        sign_of(objective_) * best_.last);
  }

  Objective objective_;
  Settings settings_;
  std::map<TrialId, Running> running_;
  Running best_;  // of those that completed
};

Result<std::unique_ptr<Assessor>> make(const json& args, const Context& context, Rng) {
  Settings settings;
  settings.last_epoch = args["epoch_num"];
  settings.start_step = args["start_step"];
  settings.threshold = args["threshold"];
  settings.gap = args["gap"];
  return std::make_unique<Curvefitting>(context.objectives.at(0), settings);
}

}  // namespace

extern const AssessorEntry curvefitting_entry = {
    .name = "Curvefitting",
    .aliases = {},
    .summary = "stops a trial whose extrapolated learning curve ends worse than the best trial",
    .arguments = {{.name = "epoch_num",
                   .type = Argument::Type::integer,
                   .fallback = 20,
                   .help = "number of results of a full trial",
                   .low = 1,
                   .high = 1e6},
                  {.name = "start_step",
                   .type = Argument::Type::integer,
                   .fallback = 6,
                   .help = "judge a trial only from this number of results on",
                   .low = 0,
                   .high = 1e9},
                  {.name = "threshold",
                   .type = Argument::Type::number,
                   .fallback = 0.95,
                   .help = "share of the best trial's result that a trial must be able to reach",
                   .low = 0,
                   .high = 1},
                  {.name = "gap",
                   .type = Argument::Type::integer,
                   .fallback = 1,
                   .help = "results between two judgements of a trial",
                   .low = 1,
                   .high = 1e9}},
    .maximizes = true,
    .make = make};

}  // namespace attune
