// Study::optimize(), and minimize() and maximize() on top of it.
#include <utility>

#include "study/optimizer.h"

namespace attune {
namespace {

Result<void> check_threads(int threads) {
  constexpr int kMost = 1024;
  if (threads >= 1 && threads <= kMost) return {};
  return attune::fail("options.threads: must be from 1 to " + std::to_string(kMost));
}

// The direction is in the name of the function; what the options say may not contradict it. That
// an objective does not maximize may be its default: no contradiction.
Result<void> set_direction(StudyOptions& options, bool maximize) {
  const bool first = !options.objectives.empty() && options.objectives.front().maximize;
  if (!maximize && (options.maximize || first)) {
    return attune::fail("minimize() is called, but the options say maximize: call maximize()");
  }
  options.maximize = maximize;
  if (!options.objectives.empty()) options.objectives.front().maximize = maximize;
  return {};
}

std::string why_no_best(const Study& study, const std::string& end_reason) {
  if (study.trial_count() == 0) return "no trial was run: " + end_reason;
  const auto diverged = study.count(TrialState::diverged);
  if (diverged == study.trial_count()) {
    return "no trial completed: of " + std::to_string(diverged) + " results none was finite";
  }
  if (study.count(TrialState::completed) > 0) {
    return "no trial that completed has a finite number of every objective";
  }
  std::string why = "no trial completed";
  if (diverged > 0) why += "; " + std::to_string(diverged) + " results were not finite";
  std::string last;
  for (const StudyTrial& trial : study.trials()) {
    if (!trial.reason.empty()) last = trial.reason;
  }
  return last.empty() ? why : why + "; the last: " + last;
}

Result<StudyTrial> best_of(const TrialFunction& function, const json& space, std::int64_t trials,
                           StudyOptions options, OptimizeOptions how, bool maximize) {
  if (trials < 1) {
    return attune::fail("trials: must be at least 1, not " + std::to_string(trials));
  }
  TRY(check_threads(how.threads));
  TRY(set_direction(options, maximize));
  if (!options.concurrency) options.concurrency = how.threads;
  how.trials = trials;
  Study study = TRY(Study::create(space, options));
  const std::string end_reason = TRY(study.optimize(function, how));
  auto best = study.best();
  if (!best) return attune::fail(why_no_best(study, end_reason));
  if (study.keeps_limits()) return *std::move(best);
  return attune::fail("no trial keeps the limits; the nearest is trial " +
                      std::to_string(best->id) + " with " + dump_json(best->parameters));
}

}  // namespace

Result<std::string> Study::optimize(const TrialFunction& function, const OptimizeOptions& options) {
  TRY(check_threads(options.threads));
  return Optimizer(*impl_, function, options).run();
}

Result<StudyTrial> minimize(const TrialFunction& function, const json& space, std::int64_t trials,
                            StudyOptions options, OptimizeOptions how) {
  return best_of(function, space, trials, std::move(options), std::move(how), false);
}

Result<StudyTrial> maximize(const TrialFunction& function, const json& space, std::int64_t trials,
                            StudyOptions options, OptimizeOptions how) {
  return best_of(function, space, trials, std::move(options), std::move(how), true);
}

}  // namespace attune
