// Median stopping rule of Syne Tune: a trial's running mean is put among those that other trials
// had at the same resource level, and the trial stops if it ranks behind the best half of them.
//
// Source: Syne Tune, MedianStoppingRule; after Golovin et al., "Google Vizier: A Service for
// Black-Box Optimization" (KDD 2017), section 3.2.1. Syne Tune wraps it around a scheduler, which
// decides where this rule does not. Here that is the tuner.
//
// Only trials with a report at exactly this level are compared, so levels must be shared: epochs,
// not seconds. All reports count for ever, whatever the trial's end. Results that are not finite do
// not count.
//
// Cost: O(log trials) a report, plus the mean over the trial's own reports. Memory: 8 bytes a
// report, 32 while the trial runs.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "assessors/loss.h"
#include "assessors/registry.h"
#include "base/saved_numbers.h"
#include "math/pairwise_sum.h"
#include "math/sorted_numbers.h"
#include "rungs/resource.h"

namespace attune {
namespace msr {
namespace {

struct Options {
  std::string resource_attr;
  bool running_average;
  double grace_time;
  std::size_t grace_population;
  double rank_cutoff;
};

bool all_finite(std::span<const double> numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

class Msr final : public Assessor {
 public:
  Msr(Objective objective, Options options)
      : objective_(std::move(objective)), options_(std::move(options)) {}

  Decision assess(TrialId trial, std::span<const Report> reports) override {
    Live& live = live_[trial];
    const bool again = reports.size() <= live.seen;
    if (again) take_back(live);
    Decision decision{trial, Action::keep_going, {}};
    for (; live.seen < reports.size(); ++live.seen) {
      if (!record(live, reports[live.seen])) continue;
      // After a step that was reported again, only the last one is judged.
      const bool is_last = live.seen + 1 == reports.size();
      if (decision.action == Action::keep_going && (!again || is_last)) {
        decision = judge(trial, live.levels.back(), live.means.back());
      }
    }
    return decision;
  }

  void trial_end(TrialId trial, End) override { live_.erase(trial); }

  json save() const override {
    json live = json::array();
    for (const auto& [trial, one] : live_) {
      live.push_back({{"trial", trial},
                      {"seen", one.seen},
                      {"levels", save_numbers(one.levels)},
                      {"losses", save_numbers(one.losses)}});
    }
    std::vector<double> levels, counts, means;
    for (const auto& [level, sorted] : means_) {
      levels.push_back(level);
      counts.push_back(static_cast<double>(sorted.size()));
      const auto values = sorted.values();
      means.insert(means.end(), values.begin(), values.end());
    }
    return {{"live", live},
            {"levels", save_numbers(levels)},
            {"counts", save_numbers(counts)},
            {"means", save_numbers(means)}};
  }

  Result<void> load(const json& state) override {
    std::map<double, SortedNumbers> means;
    const auto levels = TRY(numbers_at(state, "levels"));
    const auto counts = TRY(numbers_at(state, "counts"));
    const auto all = TRY(numbers_at(state, "means"));
    if (levels.size() != counts.size() || !all_finite(levels) || !all_finite(all)) {
      return fail("MSR: levels and means must be finite, and as they were saved");
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      if (!is_index(counts[i] - 1, static_cast<double>(all.size() - next))) {
        return fail("MSR: an impossible number of means");
      }
      SortedNumbers& sorted = means[levels[i]];
      if (!sorted.empty()) return fail("MSR: a level stands twice");
      for (const auto end = next + static_cast<std::size_t>(counts[i]); next < end; ++next) {
        sorted.insert(all[next]);
      }
    }
    if (next != all.size()) return fail("MSR: means of no level");

    std::map<TrialId, Live> live;
    for (const json& item : TRY(array_at(state, "live"))) {
      const auto [place, is_new] = live.try_emplace(TRY(integer_at(item, "trial")));
      const std::int64_t seen = TRY(integer_at(item, "seen"));
      const auto at = TRY(numbers_at(item, "levels"));
      const auto losses = TRY(numbers_at(item, "losses"));
      if (!is_new || at.size() != losses.size() || seen < std::ssize(at) || !all_finite(at) ||
          !all_finite(losses)) {
        return fail("MSR: an impossible trial");
      }
      Live& one = place->second;
      one.seen = static_cast<std::size_t>(seen);
      for (std::size_t i = 0; i < at.size(); ++i) add(one, at[i], losses[i]);
    }
    live_ = std::move(live);
    means_ = std::move(means);
    return {};
  }

 private:
  struct Live {
    std::size_t seen = 0;                       // reports
    std::vector<double> levels, losses, means;  // of those that count
  };

  // A mean that overflows is infinite or NaN, and does not count.
  void add(Live& live, double level, double loss) const {
    live.levels.push_back(level);
    live.losses.push_back(loss);
    live.means.push_back(options_.running_average ? mean(live.losses) : loss);
  }

  bool record(Live& live, const Report& report) {
    const auto level = resource_of(report, options_.resource_attr);
    const double loss = loss_of(report, objective_);
    if (!level || std::isnan(loss)) return false;
    add(live, *level, loss);
    if (!std::isfinite(live.means.back())) return false;
    means_[*level].insert(live.means.back());
    return true;
  }

  void take_back(Live& live) {
    for (std::size_t i = 0; i < live.means.size(); ++i) {
      const auto level = means_.find(live.levels[i]);
      if (level == means_.end() || !std::isfinite(live.means[i])) continue;
      level->second.erase(live.means[i]);
      if (level->second.empty()) means_.erase(level);
    }
    live = {};
  }

  Decision judge(TrialId trial, double level, double own) const {
    const SortedNumbers& means = means_.find(level)->second;
    const std::size_t better = means.count_below(own);
    const double rank = static_cast<double>(better) / static_cast<double>(means.size());
    const bool grace = means.size() < options_.grace_population || level < options_.grace_time;
    if (grace || rank <= options_.rank_cutoff) return {trial, Action::keep_going, {}};
    return {trial, Action::stop,
            fmt::format("{} {:.6g}: {} {:.6g} ranks behind {} of {} trials, the allowed share is "
                        "{:.6g}",
                        options_.resource_attr, level, options_.running_average ? "mean" : "result",
                        sign_of(objective_) * own, better, means.size(), options_.rank_cutoff)};
  }

  Objective objective_;
  Options options_;
  std::map<TrialId, Live> live_;
  std::map<double, SortedNumbers> means_;  // by level; none is empty
};

}  // namespace
}  // namespace msr

extern const AssessorEntry msr_entry = {
    .name = "MSR",
    .aliases = {},
    .summary = "stops a trial whose mean result ranks behind the best half at its resource level",
    .arguments = {{.name = "resource_attr",
                   .type = Argument::Type::text,
                   .fallback = kTrainingIteration,
                   .help = "the metric that is the resource level; trials must share its values"},
                  {.name = "running_average",
                   .type = Argument::Type::boolean,
                   .fallback = true,
                   .help = "rank the mean of the trial's results so far; false: the result alone"},
                  {.name = "grace_time",
                   .type = Argument::Type::number,
                   .fallback = 1.0,
                   .help = "stop no trial below this resource level",
                   .low = 0},
                  {.name = "grace_population",
                   .type = Argument::Type::integer,
                   .fallback = 5,
                   .help = "stop no trial until so many have reported at its level",
                   .low = 1,
                   .high = 1e9},
                  {.name = "rank_cutoff",
                   .type = Argument::Type::number,
                   .fallback = 0.5,
                   .help = "the share of trials at the same level that may be better",
                   .low = 0,
                   .high = 1}},
    .maximizes = true,
    .make = [](const json& args, const Context& context, Rng) -> Result<std::unique_ptr<Assessor>> {
      return std::make_unique<msr::Msr>(
          context.objectives.at(0),
          msr::Options{.resource_attr = args["resource_attr"],
                       .running_average = args["running_average"],
                       .grace_time = args["grace_time"],
                       .grace_population = args["grace_population"].get<std::size_t>(),
                       .rank_cutoff = args["rank_cutoff"]});
    }};

}  // namespace attune
