// Virtual time: one event of a simulated trial, from the queue to its owner.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "backends/simulated/generated_curves.h"
#include "backends/simulated/simulated_backend.h"

namespace attune::bench {
namespace {

// Trials of 81 epochs, as many at once as the argument says, one after another without end.
void simulated_event(benchmark::State& state, bool plain_metrics) {
  GeneratedCurvesOptions curves;
  curves.search_space = json::parse(R"({"x": {"_type": "uniform", "_value": [0, 1]}})");
  SimulatedBackendOptions options;
  options.plain_metrics = plain_metrics;
  ManualClock clock;
  SimulatedBackend backend(options, generated_curves(curves), clock);
  std::int64_t trials = 0;
  const auto start = [&] {
    const std::int64_t id = trials++;
    TrialStart trial;
    trial.job_id = fmt::format("t{}", id);
    trial.sequence = id;
    trial.parameter_text = fmt::format(R"({{"parameter_id":{},"parameters":{{"x":{}}}}})", id,
                                       static_cast<double>(id % 1000) / 1000);
    (void)backend.start(trial).value();
  };
  for (std::int64_t i = 0; i < state.range(0); ++i) start();
  for (auto _ : state) {
    backend.advance();
    for (const TrialEvent& event : backend.fetch_status_results()) {
      if (const auto* finished = std::get_if<TrialFinished>(&event)) {
        backend.release(finished->job_id);
        start();
      }
    }
  }
}
BENCHMARK_CAPTURE(simulated_event, object, false)->Arg(8)->Arg(1000);
BENCHMARK_CAPTURE(simulated_event, plain, true)->Arg(8)->Arg(1000);

}  // namespace
}  // namespace attune::bench
