// What embedded tuning costs: trials per second of a function that costs nothing, and the time of a
// report. docs/performance.md shows the figures. Usage: bench_study [FOLDER for the durable file]
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>

#include "os/clock.h"
#include "study/space_builder.h"
#include "study/study.h"

namespace {

using namespace attune;

json space() {
  return SpaceBuilder()
      .uniform("x", -5, 5)
      .loguniform("lr", 1e-5, 1)
      .choice("kind", {"a", "b", "c"})
      .build();
}

double cost(const json& p) {
  const double x = p.at("x").get<double>();
  return x * x + p.at("lr").get<double>();
}

void run(Study& study, const TrialFunction& function, std::int64_t trials, int threads = 1) {
  const auto ended = study.optimize(function, {.trials = trials, .threads = threads});
  if (!ended) throw std::runtime_error(ended.error().message);
}

Study make(const StudyOptions& options) {
  if (!options.file.empty()) std::filesystem::remove(options.file);
  auto study = Study::create(space(), options);
  if (!study) throw std::runtime_error(study.error().message);
  return *std::move(study);
}

// Trials a second from trial `from` to trial `to`, the best of five runs: what disturbs only slows.
double trials_per_second(const StudyOptions& options, std::int64_t from, std::int64_t to,
                         int threads = 1) {
  const SystemClock clock;
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    Study study = make(options);
    if (from > 0) run(study, cost, from, threads);
    const double start = clock.now();
    run(study, cost, to, threads);
    best = std::max(best, static_cast<double>(to - from) / (clock.now() - start));
  }
  return best;
}

double microseconds_per_report(const StudyOptions& options) {
  constexpr int kReports = 1000;
  constexpr std::int64_t kTrials = 200;
  const SystemClock clock;
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 5; ++repeat) {
    Study study = make(options);
    const double start = clock.now();
    run(
        study,
        [](const json& p, StatusReporter& reporter) {
          for (int step = 0; step < kReports; ++step) reporter.report(cost(p));
        },
        kTrials);
    best = std::min(best, (clock.now() - start) / (kReports * kTrials) * 1e6);
  }
  return best;
}

double seconds_to_open(const StudyOptions& options, std::int64_t trials) {
  {
    Study study = make(options);
    run(study, cost, trials);
  }
  const SystemClock clock;
  const double start = clock.now();
  const auto study = Study::open(options.file);
  if (!study) throw std::runtime_error(study.error().message);
  return clock.now() - start;
}

void show(const std::string& what, double figure, const char* unit) {
  fmt::print("{:<52}{:>12.2f} {}\n", what, figure, unit);
}

void measure(const std::filesystem::path& folder) {
  const StudyOptions random{.tuner = {.name = "Random"}};
  const StudyOptions tpe;
  StudyOptions durable = random;
  durable.file = folder / "bench_study.jsonl";
  StudyOptions durable_tpe = tpe;
  durable_tpe.file = durable.file;

  const char* rate = "trials/s";
  show("Random, trials 0 to 10,000", trials_per_second(random, 0, 10'000), rate);
  show("Random, trials 90,000 to 100,000", trials_per_second(random, 90'000, 100'000), rate);
  show("Random, 2 threads in turns", trials_per_second(random, 0, 10'000, 2), rate);
  show("TPE, trials 900 to 1,100", trials_per_second(tpe, 900, 1'100), rate);
  show("Random, durable file", trials_per_second(durable, 0, 10'000), rate);
  show("TPE, trials 900 to 1,100, durable file", trials_per_second(durable_tpe, 900, 1'100), rate);
  durable.durability = Durability::each_second;
  show("Random, durable file, flushed each second", trials_per_second(durable, 0, 10'000), rate);
  durable.durability = Durability::never;
  show("a report", microseconds_per_report(random), "us");
  show("a report, durable file", microseconds_per_report(durable), "us");
  show("opening a file of 100,000 trials, Random", seconds_to_open(durable, 100'000), "s");
  show("opening a file of 1,000 trials, TPE", seconds_to_open(durable_tpe, 1'000), "s");
  std::filesystem::remove(durable.file);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    measure(argc > 1 ? argv[1] : std::filesystem::temp_directory_path());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_study: %s\n", error.what());
    return 1;
  }
}
