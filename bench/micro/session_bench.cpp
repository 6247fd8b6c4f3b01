// The thread-free core: request a trial, give its result, end it; and what a snapshot of many
// trials costs the threads that they belong to.
#include <benchmark/benchmark.h>

#include "bench/process/workload.h"
#include "dispatcher/jobs.h"
#include "dispatcher/session.h"
#include "dispatcher/tune_worker.h"
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

constexpr TrialId kTrials = 100'000;

TuneWorker tune_worker() {
  auto made = make_tuner(builtin_tuners(), "TPE", json::object(), {}, 1).value();
  return {Session(std::move(made.tuner), Objective{"default", false}, Log()), Log()};
}

// With so many imported results, and 100 trials that run.
TuneWorker busy_worker() {
  TuneWorker worker = tune_worker();
  worker.handle(SetSpace{parse_json(mixed_space()).value(), true});
  auto asked = worker.handle(AskTrials{0, 0, 100});
  ImportResults results;
  Rng rng(1);
  for (TrialId i = 0; i < kTrials; ++i) {
    const auto& offer = std::get<Offer>(asked[static_cast<std::size_t>(i % 100)]);
    results.records.push_back({.parameters = offer.parameters, .value = rng.normal()});
  }
  worker.handle(std::move(results));
  return worker;
}

json saved(TuneWorker& worker) {
  auto messages = worker.handle(SaveState{1});
  return std::get<TunerState>(std::move(messages[0])).state;
}

void save_tuner(benchmark::State& state) {
  TuneWorker worker = busy_worker();
  for (auto _ : state) benchmark::DoNotOptimize(saved(worker));
}
BENCHMARK(save_tuner)->Unit(benchmark::kMillisecond);

void load_tuner(benchmark::State& state) {
  TuneWorker worker = busy_worker();
  const json whole = saved(worker);
  for (auto _ : state) {
    TuneWorker loaded = tune_worker();
    benchmark::DoNotOptimize(loaded.load(whole).has_value());
  }
}
BENCHMARK(load_tuner)->Unit(benchmark::kMillisecond);

Jobs many_jobs() {
  Jobs jobs;
  jobs.take_ids(kTrials);
  for (TrialId i = 0; i < kTrials; ++i) {
    const std::string name = "trial" + std::to_string(i);
    jobs.bind_metric(name, ParameterId(i));
    if (i % 1000 > 0) jobs.end(name, ParameterId(i), TrialEnd::Event::succeeded);
  }
  return jobs;
}

void save_jobs(benchmark::State& state) {
  const Jobs jobs = many_jobs();
  for (auto _ : state) benchmark::DoNotOptimize(jobs.save());
}
BENCHMARK(save_jobs)->Unit(benchmark::kMillisecond);

void load_jobs(benchmark::State& state) {
  const json whole = many_jobs().save();
  for (auto _ : state) {
    Jobs loaded;
    benchmark::DoNotOptimize(loaded.load(whole).has_value());
  }
}
BENCHMARK(load_jobs)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attune::bench
