#pragma once
// A journal in a folder of its own over a file system with faults, and what must be in it.
#include <catch2/catch.hpp>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>
#include <sstream>

#include "journal/codec.h"
#include "journal/file.h"
#include "os/atomic_file.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temporary_folder.h"

namespace attune {

// Rung by the helpers of a journal.
class JournalBell {
 public:
  void ring() {
    const std::lock_guard guard(mutex_);
    ++rings_;
    changed_.notify_all();
  }
  int count() {
    const std::lock_guard guard(mutex_);
    return rings_;
  }
  void wait_past(int seen) {
    std::unique_lock guard(mutex_);
    ATTUNE_CHECK(
        changed_.wait_for(guard, std::chrono::seconds(600), [&] { return rings_ > seen; }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int rings_ = 0;
};

// Every whole record of a file; nothing: there is damage, or no file.
inline std::optional<std::vector<JournalRecord>> records_in(
    const std::optional<std::string>& bytes) {
  if (!bytes) return {};
  std::vector<JournalRecord> records;
  RecordScanner scanner(*bytes);
  while (true) {
    const auto item = scanner.next();
    if (!item) return {};
    if (!*item) return records;
    records.push_back({(*item)->kind, std::string((*item)->payload)});
  }
}

// Keeps the answers above a number.
struct LaterAnswers final : KeptRecords {
  LaterAnswers(std::uint64_t all, std::uint64_t acknowledged)
      : open(all - std::min(all, acknowledged)) {}

  void add(RecordKind kind, std::string_view payload) override {
    if (kind != RecordKind::answer && kind != RecordKind::kept) return;
    payloads.emplace_back(payload);
    if (payloads.size() > open) payloads.pop_front();
  }
  std::optional<JournalRecord> take() override {
    if (payloads.empty()) return {};
    JournalRecord record{RecordKind::kept, payloads.front()};
    payloads.pop_front();
    return record;
  }

  std::size_t open;
  std::deque<std::string> payloads;
};

struct JournalWorld {
  explicit JournalWorld(Durability durability = Durability::each_second)
      : path(folder.path / "below" / "attuned.journal"),
        options{.path = path, .durability = durability} {
    files.on_held([this] { bell.ring(); });
  }

  Result<void> create(Log log = {}) {
    auto made = JournalFile::create(files, options, [this] { bell.ring(); }, std::move(log));
    if (!made) return std::unexpected(made.error());
    journal = *std::move(made);
    appended.clear();
    ends.clear();
    return {};
  }
  // A journal whose first `exchanges` are flushed.
  void start(int exchanges = 1, Log log = {}) {
    REQUIRE(create(std::move(log)));
    for (int i = 0; i < exchanges; ++i) exchange();
    journal->flush();
  }
  // A later daemon.
  Result<void> reopen(std::uint64_t size, std::uint64_t after_snapshot) {
    journal.reset();
    auto existing = JournalFile::lock_and_read(files, path);
    if (!existing) return std::unexpected(existing.error());
    if (!*existing) return fail("no journal");
    journal = TRY(JournalFile::open(files, options, *std::move(*existing), size, after_snapshot,
                                    [this] { bell.ring(); }, {}));
    return {};
  }

  void append(RecordKind kind, const std::string& payload) {
    journal->append({kind, payload});
    appended.push_back({kind, payload});
    ends.push_back(journal->position());
  }
  // The header, when it is the first; a command, and the answer to it.
  void exchange() {
    if (appended.empty()) append(RecordKind::header, R"({"format":1})");
    append(RecordKind::command, "GE" + std::to_string(++commands));
    append(RecordKind::tune, "");
    append(RecordKind::answer, "TR" + std::to_string(++answers));
  }
  // All is well, and the file holds every record.
  bool complete() const { return journal->trouble().empty() && records_in(bytes()) == appended; }
  void begin_snapshot() {
    journal->begin_snapshot();
    marked = appended.size();
    marked_answers = answers;
  }
  void write_snapshot(std::uint64_t acknowledged) {
    journal->write_snapshot({{"format", 1}}, {{"records", marked}, {"acknowledged", acknowledged}},
                            keep(marked_answers, acknowledged));
  }

  // Until the helpers have nothing in hand.
  void rest() {
    journal->poll();
    rest_until([this] { return !journal->busy(); });
  }
  template <class Condition>
  void rest_until(Condition condition) {
    while (true) {
      const int seen = bell.count();
      if (condition()) return;
      journal->poll();
      if (condition()) return;
      bell.wait_past(seen);
    }
  }
  void tick() {
    journal->tick();
    rest();
  }

  std::optional<std::string> bytes() const {
    auto read = read_file(path);
    return read ? std::optional(*read) : std::nullopt;
  }
  // What is to be in a file with this beginning.
  std::vector<JournalRecord> expected(const std::vector<JournalRecord>& found) const {
    if (found.size() < 2 || found[1].kind != RecordKind::snapshot) return appended;
    const json state = parse_json(found[1].payload).value();
    const auto before = appended.begin() + state.at("records").get<std::ptrdiff_t>();
    std::vector<JournalRecord> all = {appended[0], found[1]};
    std::uint64_t number = 0;
    for (auto record = appended.begin(); record != before; ++record) {
      if (record->kind != RecordKind::answer) continue;
      if (++number > state.at("acknowledged")) all.push_back({RecordKind::kept, record->payload});
    }
    all.insert(all.end(), before, appended.end());
    return all;
  }
  // Whether the file has nothing but what was appended, in order, and of it all that `promised`
  // counts.
  bool holds(const std::optional<std::string>& file, std::uint64_t promised) const {
    if (ends.empty() || promised < ends.front()) return true;
    const auto found = records_in(file);
    if (!found || found->empty()) return false;
    const auto all = expected(*found);
    if (found->size() > all.size() || !std::equal(found->begin(), found->end(), all.begin())) {
      return false;
    }
    const auto later = static_cast<std::size_t>(
        std::ranges::count_if(ends, [&](std::uint64_t end) { return end > promised; }));
    return found->size() + later >= all.size();
  }
  // What is promised at this moment: for `always` also to those who lose their power.
  bool kept_promise() const {
    const std::uint64_t promised = journal->durable();
    if (options.durability == Durability::always) {
      for (const auto& file : files.after_power_loss(path)) {
        if (!holds(file, promised)) return false;
      }
    }
    return holds(bytes(), promised);
  }
  bool all_on_disk() const {
    for (const auto& file : files.after_power_loss(path)) {
      if (!holds(file, journal->position())) return false;
    }
    return true;
  }

  TemporaryFolder folder;
  FaultyFiles files;
  JournalBell bell;
  const std::string path;
  JournalFile::Options options;
  std::function<std::unique_ptr<KeptRecords>(std::uint64_t all, std::uint64_t acknowledged)> keep =
      [](std::uint64_t all, std::uint64_t acknowledged) {
        return std::make_unique<LaterAnswers>(all, acknowledged);
      };
  std::vector<JournalRecord> appended;
  std::vector<std::uint64_t> ends;  // positions
  std::size_t marked = 0;
  std::uint64_t commands = 0, answers = 0, marked_answers = 0;
  std::unique_ptr<JournalFile> journal;  // last: its helpers use the above
};

inline constexpr std::array kDurabilities = {Durability::each_second, Durability::always,
                                             Durability::never};

}  // namespace attune
