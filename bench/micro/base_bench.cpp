// JSON and the queue between threads.
#include <benchmark/benchmark.h>

#include <thread>

#include "base/json.h"
#include "base/queue.h"
#include "bench/process/workload.h"

namespace attune::bench {
namespace {

void json_parse(benchmark::State& state) {
  const std::string text = mixed_space();
  for (auto _ : state) benchmark::DoNotOptimize(parse_json(text));
  state.SetBytesProcessed(state.iterations() * std::ssize(text));
}
BENCHMARK(json_parse);

void json_dump(benchmark::State& state) {
  const json value = parse_json(mixed_space()).value();
  std::int64_t bytes = 0;
  for (auto _ : state) bytes += std::ssize(dump_json(value));
  state.SetBytesProcessed(bytes);
}
BENCHMARK(json_dump);

void queue_push_and_pop(benchmark::State& state) {
  BoundedQueue<std::int64_t> queue(1 << 20);
  std::int64_t message = 1;
  for (auto _ : state) {
    queue.try_push(message, 1);
    benchmark::DoNotOptimize(queue.try_pop());
  }
}
BENCHMARK(queue_push_and_pop);

// A message to another thread and one back: two wake-ups.
void queue_round_trip(benchmark::State& state) {
  BoundedQueue<std::int64_t> there(1 << 20), back(1 << 20);
  std::thread echo([&] {
    while (auto message = there.pop()) back.push(*message, 1);
  });
  std::int64_t message = 1;
  for (auto _ : state) {
    there.try_push(message, 1);
    there.wake();
    benchmark::DoNotOptimize(back.pop());
  }
  there.close();
  echo.join();
}
BENCHMARK(queue_round_trip)->UseRealTime();

// One thread pushes as fast as it can, another pops: what each message costs.
void queue_stream(benchmark::State& state) {
  BoundedQueue<std::int64_t> queue(1 << 20);
  std::thread consumer([&] {
    while (auto message = queue.pop()) benchmark::DoNotOptimize(message);
  });
  for (auto _ : state) queue.push(1, 256);
  queue.close();
  consumer.join();
}
BENCHMARK(queue_stream)->UseRealTime();

}  // namespace
}  // namespace attune::bench
