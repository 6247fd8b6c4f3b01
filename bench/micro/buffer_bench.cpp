// The coordinator's buffers, full with 10^5 items: what one item costs.
#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include <vector>

#include "cluster/workload/buffer/buffer.h"

namespace attune::bench {
namespace {

constexpr std::int64_t kItems = 100'000, kAtOnce = 64;

BufferPolicy policy_of(BufferKind kind) {
  BufferPolicy policy;
  policy.kind = kind;
  policy.capacity = kItems;
  return policy;
}

// As long as what a collector says of a piece of data.
std::vector<BufferItem> some_items() {
  std::vector<BufferItem> items;
  for (std::int64_t i = 0; i < kAtOnce; ++i)
    items.push_back(
        {fmt::format(R"({{"data_id": "collector-{:04}/part-{:06}.bin", "unroll_len": 16}})", i,
                     i * 7919),
         {},
         i});
  return items;
}

class Filled {
 public:
  explicit Filled(BufferKind kind) : buffer(policy_of(kind), Rng(1)) {
    Rng rng(2);
    while (next_ <= kItems) push();
    std::vector<ItemId> ids;
    std::vector<double> priorities;
    for (ItemId id = 1; id < static_cast<ItemId>(next_); ++id) {
      ids.push_back(id);
      priorities.push_back(rng.uniform());
    }
    benchmark::DoNotOptimize(buffer.update(ids, priorities));
  }
  void push() {
    benchmark::DoNotOptimize(buffer.push("collector-1.0", next_, items_));
    next_ += kAtOnce;
  }
  Buffer buffer;

 private:
  std::vector<BufferItem> items_ = some_items();
  std::int64_t next_ = 1;
};

void buffer_push(benchmark::State& state, BufferKind kind) {
  Filled filled(kind);
  for (auto _ : state) filled.push();
  state.SetItemsProcessed(state.iterations() * kAtOnce);
}
BENCHMARK_CAPTURE(buffer_push, uniform, BufferKind::uniform);
BENCHMARK_CAPTURE(buffer_push, prioritised, BufferKind::prioritised);

void buffer_sample(benchmark::State& state, BufferKind kind) {
  Filled filled(kind);
  for (auto _ : state) benchmark::DoNotOptimize(filled.buffer.sample(kAtOnce));
  state.SetItemsProcessed(state.iterations() * kAtOnce);
}
BENCHMARK_CAPTURE(buffer_sample, uniform, BufferKind::uniform);
BENCHMARK_CAPTURE(buffer_sample, prioritised, BufferKind::prioritised);

void buffer_push_and_sample(benchmark::State& state, BufferKind kind) {
  Filled filled(kind);
  for (auto _ : state) {
    filled.push();
    benchmark::DoNotOptimize(filled.buffer.sample(kAtOnce));
  }
  state.SetItemsProcessed(state.iterations() * kAtOnce);
}
BENCHMARK_CAPTURE(buffer_push_and_sample, fifo, BufferKind::fifo);

void buffer_update(benchmark::State& state) {
  Filled filled(BufferKind::prioritised);
  Rng rng(3);
  for (auto _ : state) {
    std::vector<ItemId> ids;
    std::vector<double> priorities;
    for (std::int64_t i = 0; i < kAtOnce; ++i) {
      ids.push_back(100 + rng.index(kItems - 100));
      priorities.push_back(rng.uniform());
    }
    benchmark::DoNotOptimize(filled.buffer.update(ids, priorities));
  }
  state.SetItemsProcessed(state.iterations() * kAtOnce);
}
BENCHMARK(buffer_update);

void buffer_save(benchmark::State& state) {
  const Filled filled(BufferKind::prioritised);
  for (auto _ : state) benchmark::DoNotOptimize(filled.buffer.save());
}
BENCHMARK(buffer_save);

void buffer_load(benchmark::State& state) {
  const Filled filled(BufferKind::prioritised);
  const json saved = filled.buffer.save();
  for (auto _ : state)
    benchmark::DoNotOptimize(Buffer::load(policy_of(BufferKind::prioritised), saved));
}
BENCHMARK(buffer_load);

}  // namespace
}  // namespace attune::bench
