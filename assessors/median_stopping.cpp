// Median stopping rule of Ray Tune: stops a trial whose best result so far is worse than the median
// of the other trials' mean results up to the same time. The rule and its source stand in
// rungs/median_rule.h.
//
// Where too few trials got as far, Ray pauses a trial if others wait for its place. An assessor
// does not know who waits, so here the trial goes on, and its results serve the others.
//
// A trial that completes counts with its last result once (Ray: twice).
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "assessors/loss.h"
#include "assessors/registry.h"
#include "base/saved_numbers.h"
#include "rungs/median_rule.h"
#include "rungs/resource.h"

namespace attune {
namespace median_stopping {
namespace {

using TimedLoss = MedianRule::TimedLoss;

class MedianStopping final : public Assessor {
 public:
  MedianStopping(Objective objective, std::string time_attr, const MedianRule::Options& options)
      : objective_(std::move(objective)),
        time_attr_(std::move(time_attr)),
        options_(options),
        rule_(options) {}

  Decision assess(TrialId trial, std::span<const Report> reports) override {
    const auto [found, is_new] = live_.try_emplace(trial);
    Live& live = found->second;
    if (is_new) rule_.forget(trial);  // an earlier attempt, which has ended
    if (reports.size() <= live.seen) return judge_again(trial, live, reports);

    Decision decision{trial, Action::keep_going, {}};
    for (; live.seen < reports.size(); ++live.seen) {
      const auto result = result_of(reports[live.seen]);
      if (!result) continue;
      if (rule_.soft_stopped(trial)) {
        live.unrecorded = result;
      } else if (decision.action == Action::keep_going) {
        decision = decision_on(trial, rule_.report(trial, *result, false));
      }
    }
    return decision;
  }

  // In Ray's rule of today all results of a trial count for ever, whatever its end; in that of 2018
  // only those of completed trials.
  void trial_end(TrialId trial, End end) override {
    const auto found = live_.find(trial);
    if (found == live_.end()) return;
    if (end == End::completed) {
      rule_.complete(trial, found->second.unrecorded);
    } else if (options_.completed_only) {
      rule_.forget(trial);
    }
    live_.erase(found);
  }

  json save() const override {
    json live = json::array();
    for (const auto& [trial, state] : live_) {
      std::vector<double> unrecorded;
      if (state.unrecorded) unrecorded = {state.unrecorded->time, state.unrecorded->loss};
      live.push_back(
          {{"trial", trial}, {"seen", state.seen}, {"unrecorded", save_numbers(unrecorded)}});
    }
    return {{"live", live}, {"rule", rule_.save()}};
  }

  Result<void> load(const json& state) override {
    std::map<TrialId, Live> live;
    for (const json& item : TRY(array_at(state, "live"))) {
      const auto [place, is_new] = live.try_emplace(TRY(integer_at(item, "trial")));
      const std::int64_t seen = TRY(integer_at(item, "seen"));
      const auto unrecorded = TRY(numbers_at(item, "unrecorded"));
      if (!is_new || seen < 0 || (!unrecorded.empty() && unrecorded.size() != 2) ||
          !std::ranges::all_of(unrecorded, [](double x) { return std::isfinite(x); })) {
        return fail("MedianStoppingRule: an impossible trial");
      }
      place->second.seen = static_cast<std::size_t>(seen);
      if (!unrecorded.empty()) place->second.unrecorded = TimedLoss{unrecorded[0], unrecorded[1]};
    }
    TRY(rule_.load(TRY(object_at(state, "rule"))));
    live_ = std::move(live);
    return {};
  }

 private:
  struct Live {
    std::size_t seen = 0;  // reports
    // The last result since the trial was worse and soft-stopped: it counts if the trial completes.
    std::optional<TimedLoss> unrecorded;
  };

  std::optional<TimedLoss> result_of(const Report& report) const {
    const auto time = resource_of(report, time_attr_);
    const double loss = loss_of(report, objective_);
    if (!time || std::isnan(loss)) return std::nullopt;
    return TimedLoss{*time, loss};
  }

  // A step was reported again.
  Decision judge_again(TrialId trial, Live& live, std::span<const Report> reports) {
    live.seen = reports.size();
    if (rule_.soft_stopped(trial)) return {trial, Action::keep_going, {}};
    std::vector<TimedLoss> results;
    for (const Report& report : reports) {
      if (const auto result = result_of(report)) results.push_back(*result);
    }
    return decision_on(trial, rule_.rewrite(trial, results, false));
  }

  Decision decision_on(TrialId trial, const MedianRule::Judgement& judgement) const {
    if (judgement.verdict != MedianRule::Verdict::worse) return {trial, Action::keep_going, {}};
    return {
        trial, options_.hard_stop ? Action::stop : Action::pause,
        fmt::format("{} {:.6g}: best {:.6g} is {} {:.6g}, the median of the means of {} {} "
                    "trials",
                    time_attr_, judgement.time, sign_of(objective_) * judgement.best,
                    objective_.maximize ? "below" : "above", sign_of(objective_) * judgement.median,
                    judgement.others, options_.completed_only ? "completed" : "other")};
  }

  Objective objective_;
  std::string time_attr_;
  MedianRule::Options options_;
  MedianRule rule_;
  std::map<TrialId, Live> live_;
};

}  // namespace
}  // namespace median_stopping

extern const AssessorEntry median_stopping_entry = {
    .name = "MedianStoppingRule",
    .aliases = {},
    .summary = "stops a trial whose best result is worse than the median of other trials' means",
    .arguments =
        {{.name = "time_attr",
          .type = Argument::Type::text,
          .fallback = kTrainingIteration,
          .help = "the metric that is a trial's time, best in whole steps; Ray: time_total_s"},
         {.name = "grace_period",
          .type = Argument::Type::number,
          .fallback = 60.0,
          .help = "stop no trial before this time, and leave earlier results out of the means",
          .low = 0},
         {.name = "min_samples_required",
          .type = Argument::Type::integer,
          .fallback = 3,
          .help = "stop a trial only if so many others can be compared with it",
          .low = 1,
          .high = 1e9},
         {.name = "min_time_slice",
          .type = Argument::Type::number,
          .fallback = 0.0,
          .help = "accepted for Ray's sake; without effect, as trials do not give way to others",
          .low = 0},
         {.name = "hard_stop",
          .type = Argument::Type::boolean,
          .fallback = true,
          .help =
              "false: pause the trial; it goes on, unjudged, once nothing new is left to start"},
         {.name = "rule",
          .type = Argument::Type::choice,
          .fallback = "ray",
          .help = "ray_2018: compare with completed trials only, over all of their results",
          .choices = {"ray", "ray_2018"}}},
    .maximizes = true,
    .make = [](const json& args, const Context& context, Rng) -> Result<std::unique_ptr<Assessor>> {
      const MedianRule::Options options = {
          .completed_only = args["rule"] == "ray_2018",
          .grace = args["grace_period"],
          .min_samples = args["min_samples_required"].get<std::size_t>(),
          .min_time_slice = args["min_time_slice"],
          .hard_stop = args["hard_stop"]};
      return std::make_unique<median_stopping::MedianStopping>(context.objectives.at(0),
                                                               args["time_attr"], options);
    }};

}  // namespace attune
