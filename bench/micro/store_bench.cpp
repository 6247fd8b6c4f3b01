// What remembering costs: a report, and a trial from its beginning to its end, in a store that
// holds so many trials already. One commit for each, as when nothing else happens meanwhile.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>

#include "manager/store/store_reader.h"
#include "manager/store/store_writer.h"
#include "os/clock.h"

namespace attune::bench {
namespace {

class StoredWorld {
 public:
  StoredWorld() : store(open()), writer(store, clock) {
    NewExperiment experiment;
    experiment.id = "bench";
    experiment.directory = folder_;
    experiment.file = json::object();
    store.begin(experiment, 1).value();
  }
  StoredWorld(const StoredWorld&) = delete;
  StoredWorld& operator=(const StoredWorld&) = delete;
  ~StoredWorld() { std::filesystem::remove_all(folder_); }

  TrialRecord start(std::int64_t sequence) {
    TrialRecord trial;
    trial.job_id = job_id_of(sequence);
    trial.sequence = sequence;
    trial.proposed = {sequence,
                      {{"lr", 0.0123456789}, {"momentum", 0.9}, {"layers", 3}, {"act", "relu"}},
                      R"({"parameter_id": 12345, "parameter_source": "algorithm", "parameters": )"
                      R"({"lr": 0.0123456789, "momentum": 0.9, "layers": 3, "act": "relu"}})"};
    writer.add_trial(trial);
    trial.status = TrialStatus::running;
    trial.attempts = 1;
    trial.start_time = 2;
    writer.begin_attempt(trial, "").value();
    return trial;
  }
  void report(TrialRecord& trial, std::int64_t sequence) {
    TrialReport report;
    report.job_id = trial.job_id;
    report.text = R"({"parameter_id": 12345, "trial_job_id": "t12345", "type": "PERIODICAL", )"
                  R"("sequence": 5, "value": "0.987654321"})";
    report.metric.type = ReportMetricData::Type::periodical;
    report.metric.sequence = sequence;
    report.metric.value = 0.987654321;
    report.time = 3;
    report.position = 120 * sequence;
    trial.last_metric = report.metric.value;
    ++trial.reports;
    writer.add_report(trial, report, {});
    writer.change_trial(trial);
  }
  void finish(TrialRecord& trial) {
    writer.end_attempt(trial, {trial.job_id, Ending::succeeded, "exit code 0", 4, 0.5, 4096});
    trial.status = TrialStatus::succeeded;
    trial.final_metric = static_cast<double>(trial.sequence * 7919 % 100'003);
    trial.end_time = 4;
    writer.change_trial(trial);
    writer.commit().value();
  }

  const std::filesystem::path& folder() const { return folder_; }

  SystemClock clock;

 private:
  Store open() {
    char name[] = "/tmp/attune-bench-XXXXXX";
    folder_ = ::mkdtemp(name);
    return Store::open(folder_).value();
  }
  std::filesystem::path folder_;

 public:
  Store store;
  StoreWriter writer;
};

void fill(StoredWorld& world, std::int64_t trials) {
  for (std::int64_t i = 0; i < trials; ++i) {
    TrialRecord trial = world.start(i);
    world.finish(trial);
  }
}

void store_report(benchmark::State& state) {
  StoredWorld world;
  fill(world, state.range(0));
  TrialRecord trial = world.start(state.range(0));
  std::int64_t sequence = 0;
  for (auto _ : state) {
    world.report(trial, sequence++);
    if (sequence % state.range(1) == 0) world.writer.commit().value();
  }
}
BENCHMARK(store_report)
    ->ArgNames({"trials", "reports per commit"})
    ->ArgsProduct({{1'000, 100'000}, {1, 64}})
    ->Iterations(20'000);

void store_trial(benchmark::State& state) {
  StoredWorld world;
  fill(world, state.range(0));
  std::int64_t next = state.range(0);
  for (auto _ : state) {
    TrialRecord trial = world.start(next++);
    world.finish(trial);
  }
}
BENCHMARK(store_trial)->ArgName("trials")->Arg(1'000)->Arg(10'000)->Arg(100'000)->Iterations(5'000);

// What a resume reads: every ended trial with its configuration and result.
void store_read_ended(benchmark::State& state) {
  StoredWorld world;
  fill(world, state.range(0));
  for (auto _ : state) {
    StoreReader reader = StoreReader::open(world.folder()).value();
    std::int64_t count = 0;
    reader
        .trials(reader.find("").value(), {},
                [&](const TrialRecord&) {
                  ++count;
                  return true;
                })
        .value();
    benchmark::DoNotOptimize(count);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(store_read_ended)
    ->ArgName("trials")
    ->Arg(1'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond);

// What `attune list` reads of one experiment: how many trials are where, and the best.
void store_read_summary(benchmark::State& state) {
  StoredWorld world;
  fill(world, state.range(0));
  StoreReader reader = StoreReader::open(world.folder()).value();
  const StoredExperiment experiment = reader.find("").value();
  for (auto _ : state) {
    benchmark::DoNotOptimize(reader.tally(experiment).value());
    benchmark::DoNotOptimize(reader.best(experiment, 1).value());
  }
}
BENCHMARK(store_read_summary)->ArgName("trials")->Arg(1'000)->Arg(100'000);

}  // namespace
}  // namespace attune::bench
