// Very many tasks on very many workers that are lost, drain and come back at random, with a journal
// on the disk: every task ends exactly once, and neither memory nor journal grows with those that
// have ended.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <deque>
#include <fstream>
#include <map>

#include "base/rng.h"
#include "cluster/pool/server/ledger.h"
#include "tests/backends/local/local_fixture.h"
#include "tests/cluster/pool/coordinator_world.h"

namespace attune::coordinator_crowd_test {

using namespace attune::test;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // ten times as slow, and what is freed is kept for a while
#else
constexpr bool kSanitized = false;
#endif
constexpr std::size_t kTasks = kSanitized ? 10'000 : 100'000;
constexpr std::size_t kLive = 1'500;  // submitted and not forgotten
constexpr int kWorkers = 500;
constexpr std::size_t kSnapshotBytes = 1 << 20;

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

class Crowd final : public CoordinatorEffects {
 public:
  explicit Crowd(const fs::path& journal) : journal_(journal) { open(); }

  // ---- CoordinatorEffects
  void append(const Record& record) override {
    ledger_->append(encode_record(record));
    if (record.edge == Edge::ended) {
      ++ends[number_of(record.task)];
      ended_.push_back(record.task);
    }
  }
  void applied(const Record&, const Task*) override {}
  void lease(const Task& task, bool) override {
    Played& worker = workers_.at(task.worker);
    if (worker.here) worker.runs[task.spec.id] = task.lease;
  }
  void cancel(const std::string& id, const HeldLease& held, const std::string&) override {
    Played& worker = workers_.at(id);
    const auto found = worker.runs.find(held.task);
    if (found != worker.runs.end() && found->second == held.lease) worker.runs.erase(found);
  }
  void tell(const Task&, const json&) override {}
  void say_again(const Task&) override {}
  void acknowledge_info(const std::string&, const HeldLease&, std::uint64_t) override {}
  void acknowledge_end(const std::string&, const HeldLease&) override {}
  void dismiss(const std::string& id) override { dismissed_.push_back(id); }
  void state_changed(const Task&) override {}
  void info(const Task&, std::uint64_t, const json&) override {}

  // ---- what happens
  void begin() {
    coordinator.begin(now);
    for (int i = 0; i < kWorkers; ++i) join(fmt::format("w{}", i));
  }
  void step() {
    if (submitted < kTasks && coordinator.board().tasks().size() < kLive) {
      TaskSpec spec = trial_task(fmt::format("t{}", submitted++), 0.5 * (1 + below(4)));
      spec.limits = {.run = 500, .silent = 200, .attempts = 1'000};
      REQUIRE(coordinator.submit(spec, now));
    }
    const std::string id = fmt::format("w{}", below(kWorkers));
    Played& worker = workers_.at(id);
    const int what = below(100);
    if (!worker.here) {
      join(id);
    } else if (what == 0) {
      lose(id);
    } else if (what == 1) {
      coordinator.worker_drains(id, now);
    } else if (what == 2 && !worker.late.task.empty()) {
      coordinator.finished(id, worker.late, TaskState::succeeded, "", "late", now);
    } else if (!worker.runs.empty()) {
      work(id, worker);
    }
    for (const std::string& gone : std::exchange(dismissed_, {})) {
      workers_.at(gone).here = false;
      workers_.at(gone).runs.clear();
      coordinator.worker_lost(gone, now);
    }
    // The client takes its time.
    while (ended_.size() > 100 || (submitted == kTasks && !ended_.empty())) {
      coordinator.forget(ended_.front(), now);
      ended_.pop_front();
    }
    now += 0.02;
    coordinator.tick(now);
    ledger_->poll();
    ledger_->snapshot_if_due([this] { return coordinator.save(); });
    ledger_->flush();
  }
  bool over() const { return submitted == kTasks && coordinator.board().tasks().empty(); }
  std::uintmax_t journal_bytes() const { return fs::file_size(journal_); }
  // Another coordinator, of what is on the disk.
  json read_back() {
    REQUIRE(ledger_->close());
    ledger_.reset();
    Coordinator other{{}, nullptr, *this};
    open(&other);
    return other.save();
  }

  std::size_t submitted = 0;
  std::vector<int> ends = std::vector<int>(kTasks);
  double now = 1000;
  Coordinator coordinator{{}, nullptr, *this};

 private:
  struct Played {
    bool here = false;
    int incarnation = 0;
    std::map<std::string, LeaseId> runs;
    HeldLease late;  // that it has finished before
  };

  static std::size_t number_of(const std::string& task) { return std::stoul(task.substr(1)); }
  int below(int n) { return static_cast<int>(rng_.index(static_cast<std::size_t>(n))); }
  void open(Coordinator* reader = nullptr) {
    Ledger::Options options;
    options.path = journal_.string();
    options.durability = Durability::never;
    options.snapshot_bytes = kSnapshotBytes;
    const Ledger::Readers readers{
        [&](const json& state) { return reader->load(state); },
        [&](const json& record) { return reader->replay(*record_from_json(record)); }};
    auto former = Ledger::look(real_files(), options);
    if (!former) FAIL(former.error().message);
    auto made = Ledger::open(real_files(), options, *std::move(former), 1, readers, [] {}, Log());
    if (!made) FAIL(made.error().message);
    ledger_ = *std::move(made);
  }
  void join(const std::string& id) {
    Played& worker = workers_[id];
    WorkerHello hello = worker_hello(id, 2, fmt::format("{}", worker.incarnation));
    for (const auto& [task, lease] : worker.runs) hello.running.push_back({task, lease});
    worker.here = true;
    REQUIRE(coordinator.worker_joined(hello, now));
  }
  // Its connection, its process, or its machine.
  void lose(const std::string& id) {
    Played& worker = workers_.at(id);
    worker.here = false;
    if (below(2) == 0) {
      worker.runs.clear();
      ++worker.incarnation;
    }
    coordinator.worker_lost(id, now);
  }
  void work(const std::string& id, Played& worker) {
    const HeldLease held{worker.runs.begin()->first, worker.runs.begin()->second};
    coordinator.started(id, held, now);
    if (below(2) == 0) return;
    worker.runs.erase(held.task);
    worker.late = held;
    coordinator.finished(id, held, below(8) == 0 ? TaskState::failed : TaskState::succeeded, "",
                         "report", now);
  }

  Rng rng_{1};
  const fs::path journal_;
  std::unique_ptr<Ledger> ledger_;
  std::map<std::string, Played> workers_;
  std::vector<std::string> dismissed_;
  std::deque<std::string> ended_;
};

TEST_CASE("coordinator: a crowd of workers and tasks leaves memory and journal flat") {
  TemporaryFolder folder;
  Crowd crowd(folder.path / "journal");
  crowd.begin();
  double megabytes = 0;
  std::uintmax_t most_bytes = 0;
  for (std::size_t step = 0; !crowd.over(); ++step) {
    REQUIRE(step < 100 * kTasks);
    crowd.step();
    if (megabytes == 0 && crowd.submitted == kTasks / 4) megabytes = resident_megabytes();
    if (step % 1'000 == 0) most_bytes = std::max(most_bytes, crowd.journal_bytes());
  }
  CHECK(std::ranges::count(crowd.ends, 1) == static_cast<std::ptrdiff_t>(kTasks));
  CHECK(crowd.coordinator.fenced() > 0);
  CHECK(crowd.coordinator.queue().size() == 0);
  for (const auto& [id, worker] : crowd.coordinator.workers().workers()) {
    CHECK(worker.tasks.empty());
    CHECK(worker.used.cpu == 0);
  }
  CHECK(crowd.coordinator.workers().workers().size() <= kWorkers);
  CHECK(dump_json(crowd.coordinator.save()).size() < 200);
  // A snapshot of 1500 tasks is less than the records between two; there may be twice of these.
  CHECK(most_bytes < 6 * kSnapshotBytes);
  INFO(megabytes << " MB with a quarter of the tasks");
  if (!kSanitized) CHECK(resident_megabytes() < megabytes + 8);
  const json state = crowd.coordinator.save();
  CHECK(crowd.read_back() == state);
}

}  // namespace attune::coordinator_crowd_test
