// What reporting costs a trial: a record in the metrics file, and a step of a function in its
// thread (two switches between threads).
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "trial/function_runner.h"
#include "trial/trial.h"

namespace attune::bench {
namespace {

void report_to_file(benchmark::State& state) {
  char folder[] = "/tmp/attune-bench-XXXXXX";
  if (::mkdtemp(folder) == nullptr) return state.SkipWithError("no folder");
  std::ofstream(std::filesystem::path(folder) / "parameter.cfg")
      << R"({"parameter_id": 0, "parameters": {}})";
  ::setenv("NNI_PLATFORM", "local", 1);
  ::setenv("NNI_SYS_DIR", folder, 1);
  {
    Trial trial = Trial::from_environment().value();
    trial.next_parameters().value();
    double loss = 1;
    for (auto _ : state) trial.report(loss *= 0.999).value();
  }
  ::unsetenv("NNI_PLATFORM");
  ::unsetenv("NNI_SYS_DIR");
  std::filesystem::remove_all(folder);
}
BENCHMARK(report_to_file);

void report_in_lock_step(benchmark::State& state) {
  FunctionRunner runner([](const json&, StatusReporter& reporter) {
    for (double loss = 1;; loss *= 0.999) reporter(loss);
  });
  for (auto _ : state) benchmark::DoNotOptimize(runner.train().value());
}
BENCHMARK(report_in_lock_step)->UseRealTime();

}  // namespace
}  // namespace attune::bench
