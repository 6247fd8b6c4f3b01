// The thread-free core: request a trial, give its result, end it.
#include <benchmark/benchmark.h>

#include "bench/process/workload.h"
#include "dispatcher/session.h"
#include "space/parse.h"
#include "tuners/registry.h"

namespace attune::bench {
namespace {

void session_loop(benchmark::State& state) {
  auto made = make_tuner(builtin_tuners(), "Random", json::object(), {}, 1).value();
  Session session(std::move(made.tuner), Objective{"default", false}, Log());
  (void)session.set_space(parse_space(parse_json(mixed_space()).value()).value()).value();
  TrialId id = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(session.request(id, 1));
    session.final_result(id, 0.5);
    session.trial_end(id, End::completed);
    ++id;
  }
}
BENCHMARK(session_loop)->Iterations(100'000);  // it keeps the history

}  // namespace
}  // namespace attune::bench
