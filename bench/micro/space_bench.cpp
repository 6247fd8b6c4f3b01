// Sampling and duplicates.
#include <benchmark/benchmark.h>

#include "bench/process/workload.h"
#include "space/dedup.h"
#include "space/parse.h"
#include "space/sample.h"

namespace attune::bench {
namespace {

Space space_of(const std::string& text) { return parse_space(parse_json(text).value()).value(); }

void sample_point(benchmark::State& state) {
  const Space space = space_of(mixed_space());
  Rng rng(1);
  for (auto _ : state) benchmark::DoNotOptimize(sample(space, rng));
}
BENCHMARK(sample_point);

void point_to_json(benchmark::State& state) {
  const Space space = space_of(mixed_space());
  Rng rng(1);
  const Point point = sample(space, rng);
  for (auto _ : state) benchmark::DoNotOptimize(to_json(space, point));
}
BENCHMARK(point_to_json);

void point_from_json_text(benchmark::State& state) {
  const Space space = space_of(mixed_space());
  Rng rng(1);
  const json parameters = to_json(space, sample(space, rng));
  for (auto _ : state) benchmark::DoNotOptimize(point_from_json(space, parameters));
}
BENCHMARK(point_from_json_text);

// A space of 10^6 points, so many of which have been seen.
void deduplicate(benchmark::State& state) {
  const Space space = space_of(R"({"a": {"_type": "randint", "_value": [0, 1000]},
                                   "b": {"_type": "randint", "_value": [0, 1000]}})");
  Rng rng(1);
  Deduplicator seen(space);
  for (std::int64_t i = 0; i < state.range(0); ++i) seen.add(sample(space, rng));
  std::vector<Point> candidates;
  for (int i = 0; i < 1024; ++i) candidates.push_back(sample(space, rng));
  std::size_t next = 0;
  for (auto _ : state) seen.add(candidates[next++ % candidates.size()]);
}
BENCHMARK(deduplicate)->Arg(100)->Arg(10'000)->Arg(100'000);

}  // namespace
}  // namespace attune::bench
