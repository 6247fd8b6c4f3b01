#include "bench/quality/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <map>
#include <queue>

#include "bench/quality/belief.h"
#include "bench/quality/earlier.h"
#include "math/hypervolume.h"
#include "math/pareto.h"
#include "space/first_point.h"
#include "space/parse.h"
#include "tuners/registry.h"

namespace attune::bench {
namespace {

using Values = std::vector<double>;

std::string metric(std::size_t i) { return i == 0 ? "default" : fmt::format("metric {}", i); }

struct Running {
  double end;
  TrialId trial;
  bool operator>(const Running& other) const {
    return std::pair(end, trial) > std::pair(other.end, other.trial);
  }
};

class Search {
 public:
  Search(const Problem& problem, const RunSettings& settings, Space space,
         std::unique_ptr<Tuner> tuner)
      : problem_(problem),
        settings_(settings),
        space_(std::move(space)),
        tuner_(std::move(tuner)),
        rng_(Rng(settings.seed).fork(problem.name)) {}

  void learn_from(std::span<const EarlierTask> tasks) {
    for (Point& point : tuner_->learn_from(tasks)) starts_.push_back(std::move(point));
  }
  const EarlierTask& results() const { return results_; }

  Run run() {
    int ended = 0;
    double now = 0;
    TrialId next = 0;
    for (;;) {
      while (next < settings_.trials &&
             running_.size() < static_cast<std::size_t>(settings_.parallel)) {
        if (!start(next, now)) return finished();
        ++next;
      }
      if (running_.empty()) return finished();
      now = running_.top().end;
      end(running_.top().trial);
      running_.pop();
      ++ended;
      if (settings_.curve) result_.curve.push_back(found());
      if (std::ranges::find(kMarks, ended) != std::end(kMarks)) result_.found.push_back(found());
    }
  }

 private:
  // The first trial is that of the user, as under the dispatcher.
  std::vector<Answer> ask(TrialId id) {
    const auto first = id == 0 ? first_point(space_) : std::nullopt;
    if (!first) return tuner_->ask({&id, 1});
    tuner_->adopt(id, *first);
    return {Proposal{.point = *first}};
  }

  bool start(TrialId id, double now) {
    if (!starts_.empty()) {
      points_[id] = std::move(starts_.front());
      starts_.pop_front();
      tuner_->adopt(id, points_[id]);
      running_.push({now + rng_.uniform(1, 2), id});
      return true;
    }
    const auto begun = std::chrono::steady_clock::now();
    const std::vector<Answer> answers = ask(id);
    const double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
    result_.slowest_ask_ms = std::max(result_.slowest_ask_ms, ms);
    result_.ask_ms += ms / settings_.trials;
    const auto* proposal = std::get_if<Proposal>(&answers.front());
    if (!proposal) return false;
    points_[id] = proposal->point;
    running_.push({now + rng_.uniform(1, 2), id});
    return true;
  }

  void end(TrialId id) {
    const json parameters = to_json(space_, points_.at(id));
    Outcome outcome{.trial = id, .point = points_.at(id)};
    const double chance = problem_.failing ? problem_.failing(parameters) : 0;
    if (rng_.uniform() < chance) {
      outcome.end = End::failed;
    } else {
      const Values values =
          problem_.values ? problem_.values(parameters) : Values{problem_.value(parameters)};
      Values observed = values;
      for (std::size_t i = 0; i < problem_.objectives; ++i) {
        observed[i] += problem_.noise * rng_.normal();
      }
      outcome.loss = observed[0];
      results_.points.push_back(outcome.point);
      results_.losses.push_back(*outcome.loss);
      for (std::size_t i = 0; i < observed.size(); ++i) {
        outcome.metrics.emplace_back(metric(i), observed[i]);
      }
      const auto excesses = std::span(observed).subspan(problem_.objectives);
      if (std::ranges::all_of(excesses, [](double excess) { return excess <= 0; })) {
        keep(values, observed);
      }
    }
    points_.erase(id);
    tuner_->tell({&outcome, 1});
  }

  void keep(const Values& values, const Values& observed) {
    if (problem_.objectives == 1 && observed[0] < observed_) {
      observed_ = observed[0];
      found_ = values[0];
    }
    const auto end = static_cast<std::ptrdiff_t>(problem_.objectives);
    kept_.insert(kept_.end(), values.begin(), values.begin() + end);
    kept_observed_.insert(kept_observed_.end(), observed.begin(), observed.begin() + end);
  }

  double found() const {
    if (problem_.objectives == 1) return found_;
    const std::size_t k = problem_.objectives;
    const std::vector<std::size_t> fronts = nondominated_fronts(kept_observed_, k);
    Values rows;
    for (std::size_t i = 0; i < fronts.size(); ++i) {
      const auto row = std::span(kept_).subspan(i * k, k);
      if (fronts[i] == 0) rows.insert(rows.end(), row.begin(), row.end());
    }
    return 1 - hypervolume(rows, k, problem_.reference) / problem_.volume;
  }

  Run finished() { return std::move(result_); }

  const Problem& problem_;
  const RunSettings& settings_;
  Space space_;
  std::unique_ptr<Tuner> tuner_;
  Rng rng_;
  std::map<TrialId, Point> points_;
  std::deque<Point> starts_;  // to be tried before the tuner is asked
  EarlierTask results_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  double observed_ = HUGE_VAL, found_ = problem_.limits > 0 ? problem_.unmet : HUGE_VAL;
  Values kept_, kept_observed_;  // objectives of the trials that keep all limits, row by row
  Run result_;
};

Result<Search> make_search(const Problem& problem, const RunSettings& settings) {
  Space space = TRY(parse_space(problem.space));
  if (!settings.prior.empty()) believe(space, problem, settings.prior, settings.seed);
  json arguments = settings.arguments;
  arguments["optimize_mode"] = "minimize";
  arguments["seed"] = settings.seed;
  Context context;
  for (std::size_t i = 0; i < problem.objectives + problem.limits; ++i) {
    const bool limited = i >= problem.objectives;
    context.objectives.push_back({metric(i), false, limited ? std::optional(0.0) : std::nullopt});
  }
  MadeTuner made = TRY(make_tuner(builtin_tuners(), settings.tuner, arguments, context, 0));
  TRY(made.tuner->set_space(space));
  return Search(problem, settings, std::move(space), std::move(made.tuner));
}

Result<std::vector<EarlierTask>> earlier_tasks(const Problem& problem, const RunSettings& of) {
  std::vector<EarlierTask> tasks;
  for (int i = 0; i < of.related + of.foreign; ++i) {
    const RunSettings settings{.tuner = "Random",
                               .trials = of.earlier_trials,
                               .seed = of.seed * 100 + static_cast<std::uint64_t>(i)};
    const Rng rng = Rng(of.seed).fork("earlier " + std::to_string(i));
    const Problem copy =
        copy_of(problem, i < of.related ? Kinship::related : Kinship::foreign, rng);
    Search search = TRY(make_search(copy, settings));
    search.run();
    if (!search.results().points.empty()) tasks.push_back(search.results());
  }
  return tasks;
}

}  // namespace

Result<Run> run(const Problem& problem, const RunSettings& settings) {
  Search search = TRY(make_search(problem, settings));
  const std::vector<EarlierTask> tasks = TRY(earlier_tasks(problem, settings));
  if (!tasks.empty()) search.learn_from(tasks);
  return search.run();
}

}  // namespace attune::bench
