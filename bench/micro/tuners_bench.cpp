// Asking and telling, without queues or JSON.
#include <benchmark/benchmark.h>

#include "bench/process/workload.h"
#include "space/parse.h"
#include "space/sample.h"
#include "tuners/registry.h"

namespace attune::bench {
namespace {

// A tuner that was told `observations` results of random points.
struct Subject {
  Subject(const std::string& name, std::int64_t observations,
          const json& arguments = json::object())
      : space(parse_space(parse_json(mixed_space()).value()).value()),
        tuner(make_tuner(builtin_tuners(), name, arguments, {}, 1).value().tuner) {
    tuner->set_space(space).value();
    for (std::int64_t i = 0; i < observations; ++i) tell();
  }

  void tell() {
    const Outcome outcome{.trial = next++, .point = sample(space, rng), .loss = rng.normal()};
    tuner->tell(std::span(&outcome, 1));
  }

  // Asked and told at once that it failed, so that the number of observations stays.
  void ask() {
    const TrialId id = next++;
    const auto answers = tuner->ask(std::span(&id, 1));
    const Outcome outcome{
        .trial = id, .point = std::get<Proposal>(answers[0]).point, .end = End::failed};
    tuner->tell(std::span(&outcome, 1));
  }

  Space space;
  std::unique_ptr<Tuner> tuner;
  Rng rng{2};
  TrialId next = 0;
};

void ask(benchmark::State& state, const std::string& name, const json& arguments = json::object()) {
  Subject subject(name, state.range(0), arguments);
  for (auto _ : state) subject.ask();
}
BENCHMARK_CAPTURE(ask, Random, "Random")->Arg(0);
BENCHMARK_CAPTURE(ask, TPE, "TPE")
    ->Arg(0)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(10'000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(ask, TPE_multivariate, "TPE", {{"multivariate", true}})
    ->Arg(100)
    ->Arg(500)
    ->Arg(1000)
    ->Arg(10'000)
    ->Unit(benchmark::kMicrosecond);

// The observations become more while it is measured: by a tenth, not by as many as the library
// would like.
void tell(benchmark::State& state, const std::string& name) {
  Subject subject(name, state.range(0));
  for (auto _ : state) subject.tell();
}
BENCHMARK_CAPTURE(tell, TPE, "TPE")->Arg(100)->Iterations(10);
BENCHMARK_CAPTURE(tell, TPE, "TPE")->Arg(1000)->Iterations(100);
BENCHMARK_CAPTURE(tell, TPE, "TPE")->Arg(10'000)->Iterations(1000);
BENCHMARK_CAPTURE(tell, TPE, "TPE")->Arg(100'000)->Iterations(1000);

}  // namespace
}  // namespace attune::bench
