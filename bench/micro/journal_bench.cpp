// The journal: what a record costs the io thread, and how fast one is read.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "journal/codec.h"
#include "journal/file.h"

namespace attune::bench {
namespace {

const std::string kAnswer =
    R"(TR{"parameter_id":7,"parameter_source":"algorithm","parameters":{"lr":0.0123456789,)"
    R"("momentum":0.93,"batch":32,"opt":"adam","layers":3,"hidden":128.0},"parameter_index":0})";

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "attune-bench-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file() const { return path_ / "attuned.journal"; }

 private:
  std::filesystem::path path_;
};

class Bell {
 public:
  void ring() {
    const std::lock_guard guard(mutex_);
    rung_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
};

void journal_encode(benchmark::State& state) {
  std::string bytes;
  for (auto _ : state) {
    bytes.clear();
    encode_record(RecordKind::answer, kAnswer, bytes);
    benchmark::DoNotOptimize(bytes);
  }
  state.SetBytesProcessed(state.iterations() * std::ssize(bytes));
}
BENCHMARK(journal_encode);

// A record with a flush of its own, with durability write: the helper flushes to the disk beside
// it.
void journal_append_and_flush(benchmark::State& state) {
  const Folder folder;
  const auto journal =
      JournalFile::create(real_files(), {.path = folder.file()}, [] {}, {}).value();
  for (auto _ : state) {
    journal->append({RecordKind::answer, kAnswer});
    journal->flush();
    journal->poll();
  }
}
BENCHMARK(journal_append_and_flush);

// The same until it is on the disk, `range` records at a time.
void journal_until_on_disk(benchmark::State& state) {
  const Folder folder;
  Bell bell;
  const auto journal =
      JournalFile::create(real_files(), {.path = folder.file(), .durability = Durability::always},
                          [&] { bell.ring(); }, {})
          .value();
  for (auto _ : state) {
    for (int i = 0; i < state.range(0); ++i) journal->append({RecordKind::answer, kAnswer});
    journal->flush();
    while (journal->durable() < journal->position()) {
      bell.wait();
      journal->poll();
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(journal_until_on_disk)->Arg(1)->Arg(100)->UseRealTime();

std::string many_records(std::size_t size) {
  std::string bytes;
  encode_record(RecordKind::header, "{}", bytes);
  while (bytes.size() < size) {
    encode_record(RecordKind::command, "GE1", bytes);
    encode_record(RecordKind::tune, "", bytes);
    encode_record(RecordKind::answer, kAnswer, bytes);
  }
  return bytes;
}

void journal_scan(benchmark::State& state) {
  const std::string bytes = many_records(32 << 20);
  for (auto _ : state) {
    RecordScanner scanner(bytes);
    while (auto item = scanner.next().value()) benchmark::DoNotOptimize(item);
  }
  state.SetBytesProcessed(state.iterations() * std::ssize(bytes));
}
BENCHMARK(journal_scan)->Unit(benchmark::kMillisecond);

// A damaged beginning, and no good record behind it: every byte is looked at.
void journal_search(benchmark::State& state) {
  std::string bytes = many_records(32 << 20);
  for (std::size_t at = 5; at < bytes.size(); at += kRecordHead) bytes[at] ^= 1;
  for (auto _ : state) benchmark::DoNotOptimize(find_record(bytes, 1));
  state.SetBytesProcessed(state.iterations() * std::ssize(bytes));
}
BENCHMARK(journal_search)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attune::bench
