// Compares early stopping: ours, and NNI's original rules, on the same generated experiments.
//   compare_early_stopping [experiments] [seed]      default: 1000 of each direction, seed 1
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>
#include <map>

#include "assessors/registry.h"
#include "base/check.h"
#include "bench/early_stopping/experiments.h"
#include "bench/early_stopping/original.h"

namespace attune {
namespace {

constexpr std::size_t kConcurrency = 4;

// Ours behind the originals' interface.
class Ours final : public OriginalAssessor {
 public:
  Ours(const std::string& name, bool maximize) {
    const json mode = {{"optimize_mode", maximize ? "maximize" : "minimize"}};
    auto made = make_assessor(builtin_assessors(), name, mode, {}, 1);
    ATTUNE_CHECK(made.has_value());
    assessor_ = *std::move(made);
  }
  bool keeps(int trial, std::span<const double> history) override {
    auto& reports = reports_[trial];
    reports.push_back({trial, std::ssize(reports), {{"default", history.back()}}});
    return assessor_->assess(trial, reports).action == Action::keep_going;
  }
  void trial_end(int trial, bool completed) override {
    assessor_->trial_end(trial, completed ? End::completed : End::stopped);
  }

 private:
  std::unique_ptr<Assessor> assessor_;
  std::map<int, std::vector<Report>> reports_;
};

struct Result {
  bool lost_best = false;  // the trial that would have become the best was stopped
  double saved = 0;        // share of all epochs
  double regret = 0;       // lost in the best result, in units of (best - median result)
  double seconds = 0;      // of CPU time in the assessor
  std::size_t judged = 0;  // reports
};

// Trials start in order, four at a time; which of them reports next is drawn.
Result run(const Curves& curves, OriginalAssessor& assessor, Rng rng) {
  std::vector<std::size_t> live, done(kTrials);
  std::size_t next = 0, steps = 0;
  std::vector<bool> stopped(kTrials);
  Result result;
  while (true) {
    while (live.size() < kConcurrency && next < kTrials) live.push_back(next++);
    if (live.empty()) break;
    const std::size_t at = rng.index(live.size()), trial = live[at];
    ++done[trial];
    ++steps;
    const std::clock_t before = std::clock();
    const bool keeps =
        assessor.keeps(static_cast<int>(trial), std::span(curves.values[trial]).first(done[trial]));
    result.seconds += static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    ++result.judged;
    // Stopped at its last epoch a trial has its result.
    if (keeps && done[trial] < kEpochs) continue;
    stopped[trial] = done[trial] < kEpochs;
    assessor.trial_end(static_cast<int>(trial), keeps);
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
  }

  std::vector<double> ends;
  for (const auto& values : curves.values) {
    ends.push_back(curves.maximize ? -values.back() : values.back());
  }
  const std::size_t best = static_cast<std::size_t>(std::ranges::min_element(ends) - ends.begin());
  double reached = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < kTrials; ++i) {
    if (!stopped[i]) reached = std::min(reached, ends[i]);
  }
  result.lost_best = stopped[best];
  result.saved = 1 - static_cast<double>(steps) / static_cast<double>(kTrials * kEpochs);
  const double top = ends[best];
  std::ranges::nth_element(ends, ends.begin() + kTrials / 2);
  result.regret = (reached - top) / (ends[kTrials / 2] - top);
  return result;
}

struct Rule {
  std::string name;
  std::function<std::unique_ptr<OriginalAssessor>(bool maximize, Rng)> make;
  bool only_maximizes = false;
};

std::vector<Rule> rules() {
  return {
      {"Medianstop", [](bool max, Rng) { return std::make_unique<Ours>("Medianstop", max); }},
      {"Medianstop of NNI", [](bool max, Rng) { return original_medianstop(max); }},
      {"Curvefitting", [](bool max, Rng) { return std::make_unique<Ours>("Curvefitting", max); }},
      {"Curvefitting of NNI", [](bool, Rng rng) { return original_curvefitting(rng); }, true}};
}

void compare(int experiments, std::uint64_t seed) {
  fmt::print(
      "| direction | rule | stops the would-be best | steps saved | mean regret | per report |\n");
  fmt::print("|---|---|---|---|---|---|\n");
  for (const bool maximize : {true, false}) {
    for (const Rule& rule : rules()) {
      if (rule.only_maximizes && !maximize) continue;
      int lost = 0;
      Result sum;
      for (int k = 0; k < experiments; ++k) {
        const Rng rng = Rng(seed).fork(std::to_string(k));
        const auto assessor = rule.make(maximize, rng.fork("assessor"));
        const Result one =
            run(generate(maximize, rng.fork("curves")), *assessor, rng.fork("order"));
        lost += one.lost_best;
        sum.saved += one.saved;
        sum.regret += one.regret;
        sum.seconds += one.seconds;
        sum.judged += one.judged;
      }
      fmt::print("| {} | {} | {:.1f} % | {:.1f} % | {:.4f} | {:.1f} us |\n",
                 maximize ? "maximize" : "minimize", rule.name, 100.0 * lost / experiments,
                 100 * sum.saved / experiments, sum.regret / experiments,
                 1e6 * sum.seconds / static_cast<double>(sum.judged));
      std::fflush(stdout);
    }
  }
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  const int experiments = argc > 1 ? std::atoi(argv[1]) : 1000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  attune::compare(std::max(experiments, 1), seed);
}
