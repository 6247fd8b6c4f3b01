// Asking and telling, without queues or JSON.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "bench/process/workload.h"
#include "space/parse.h"
#include "space/sample.h"
#include "space/unit_cube.h"
#include "tuners/registry.h"

namespace attune::bench {
namespace {

// A tuner that was told `observations` results of random points.
struct Subject {
  Subject(const std::string& name, std::int64_t observations,
          const json& arguments = json::object(), const std::string& text = mixed_space())
      : space(parse_space(parse_json(text).value()).value()),
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

// The same of a manager that has asked for so many trials before: 100 results are told, the trials
// run.
void ask_with_running(benchmark::State& state, const std::string& name,
                      const json& arguments = json::object()) {
  Subject subject(name, 100, arguments);
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    subject.tuner->adopt(subject.next++, sample(subject.space, subject.rng));
  }
  for (auto _ : state) subject.ask();
}
void running(benchmark::internal::Benchmark* benchmark) {
  for (const int n : {1000, 10'000, 100'000}) benchmark->Arg(n);
  benchmark->Iterations(100)->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(ask_with_running, TPE, "TPE")->Apply(running);
BENCHMARK_CAPTURE(ask_with_running, TPE_univariate, "TPE", {{"multivariate", false}})
    ->Apply(running);
BENCHMARK_CAPTURE(ask_with_running, auto, "auto") -> Apply(running);
BENCHMARK_CAPTURE(ask_with_running, ensemble, "ensemble")->Apply(running);

// Twenty dimensions of all kinds.
std::string wide_space() {
  json space;
  for (int i = 0; i < 8; ++i) {
    space["u" + std::to_string(i)] = {{"_type", "uniform"}, {"_value", {-5, 5}}};
  }
  for (int i = 0; i < 4; ++i) {
    space["l" + std::to_string(i)] = {{"_type", "loguniform"}, {"_value", {1e-5, 1}}};
  }
  for (int i = 0; i < 3; ++i) {
    space["i" + std::to_string(i)] = {{"_type", "randint"}, {"_value", {1, 33}}};
  }
  space["q"] = {{"_type", "qloguniform"}, {"_value", {8, 1024, 1}}};
  json categories = {"a", "b"};
  for (const char* more : {"c", "d", "e", "f"}) {
    categories.push_back(more);
    space[std::string("c") + more] = {{"_type", "choice"}, {"_value", categories}};
  }
  return dump_json(space);
}

std::string twenty_choices() {
  json space;
  for (int i = 0; i < 20; ++i) {
    space["c" + std::to_string(i)] = {{"_type", "choice"}, {"_value", {1, 2, 3, 4, 5, 6}}};
  }
  return dump_json(space);
}

// What a user waits for: a proposal after one more result, of a search that has come so far by
// itself. Models are fitted now and then, so that the mean says little.
void sequential(benchmark::State& state, const std::string& name,
                const json& arguments = json::object(), const std::string& space = wide_space()) {
  Subject subject(name, 0, arguments, space);
  const UnitCube cube(subject.space);
  const auto turn = [&] {
    const TrialId id = subject.next++;
    const auto start = std::chrono::steady_clock::now();
    const auto answers = subject.tuner->ask(std::span(&id, 1));
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    const Point point = std::get<Proposal>(answers[0]).point;
    double loss = 0;
    for (const double x : cube.to_cube(point)) loss += (x - 0.3) * (x - 0.3);
    const Outcome outcome{.trial = id, .point = point, .loss = loss};
    subject.tuner->tell(std::span(&outcome, 1));
    return waited.count();
  };
  double total = 0;
  const auto before = state.range(0) - 50;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(before, 2000); ++i) total += turn();
  for (std::int64_t i = 2000; i < before; ++i) subject.tell();
  std::vector<double> waited;
  for (auto _ : state) {
    waited.push_back(turn());
    state.SetIterationTime(waited.back());
  }
  if (before == 50) {
    total += std::accumulate(waited.begin(), waited.begin() + 50, 0.0);
    state.counters["first_100"] = total;
  }
  std::ranges::sort(waited);
  state.counters["median"] = waited[waited.size() / 2];
  state.counters["p95"] = waited[waited.size() * 95 / 100];
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  for (const int n : {100, 500, 1000, 10'000}) benchmark->Arg(n);
  benchmark->Iterations(100)->UseManualTime()->Unit(benchmark::kMillisecond)->Repetitions(1);
}
BENCHMARK_CAPTURE(sequential, auto, "auto") -> Apply(sizes);
BENCHMARK_CAPTURE(sequential, GP, "GP")->Apply(sizes);
BENCHMARK_CAPTURE(sequential, TuRBO, "TuRBO")->Apply(sizes);
BENCHMARK_CAPTURE(sequential, TPE, "TPE")->Apply(sizes);
BENCHMARK_CAPTURE(sequential, TPE_univariate, "TPE", {{"multivariate", false}})->Apply(sizes);
BENCHMARK_CAPTURE(sequential, ensemble, "ensemble")->Apply(sizes);
BENCHMARK_CAPTURE(sequential, Metis, "Metis")->Apply(sizes);
BENCHMARK_CAPTURE(sequential, SMAC, "SMAC")->Apply(sizes);
BENCHMARK_CAPTURE(sequential, DNGO, "DNGO")->Apply(sizes);
BENCHMARK_CAPTURE(sequential, Random, "Random")->Apply(sizes);
BENCHMARK_CAPTURE(sequential, GridSearch, "GridSearch")->Apply(sizes);
BENCHMARK_CAPTURE(sequential, QMC, "QMC")->Apply(sizes);
BENCHMARK_CAPTURE(sequential, CMA_ES, "CMA-ES")->Apply(sizes);
BENCHMARK_CAPTURE(sequential, Evolution, "Evolution")->Apply(sizes);
BENCHMARK_CAPTURE(sequential, RegularizedEvolution, "RegularizedEvolution")->Apply(sizes);
BENCHMARK_CAPTURE(sequential, PPO, "PPO", json::object(), twenty_choices())->Apply(sizes);
BENCHMARK_CAPTURE(sequential, NSGAII, "NSGAII")->Apply(sizes);
BENCHMARK_CAPTURE(sequential, Anneal, "Anneal")->Apply(sizes);

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
