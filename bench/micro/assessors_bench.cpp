// Medianstop among many completed trials.
#include <benchmark/benchmark.h>

#include "assessors/registry.h"

namespace attune::bench {
namespace {

constexpr std::int64_t kSteps = 100;

struct LongTrial {
  void report(TrialId id, double value) {
    reports.push_back({id, std::ssize(reports), {{"default", value}}});
  }
  std::vector<Report> reports;
};

// One trial of a hundred results: judged after each, and its end.
void medianstop_trial(benchmark::State& state) {
  const auto assessor =
      make_assessor(builtin_assessors(), "Medianstop", json::object(), {}, 1).value();
  TrialId id = 0;
  const auto run = [&] {
    LongTrial trial;
    for (std::int64_t step = 0; step < kSteps; ++step) {
      trial.report(id, static_cast<double>(id * 7919 % 1000));
      benchmark::DoNotOptimize(assessor->assess(id, trial.reports));
    }
    assessor->trial_end(id++, End::completed);
  };
  for (std::int64_t i = 0; i < state.range(0); ++i) run();
  for (auto _ : state) run();
  state.SetItemsProcessed(state.iterations() * kSteps);
}
BENCHMARK(medianstop_trial)->Arg(0)->Arg(1000)->Arg(10'000)->Iterations(1000);

}  // namespace
}  // namespace attune::bench
