// Any records as a journal that a daemon goes on from, one a line: a letter for the kind, then the
// payload. An error, or a dispatcher that goes on: exactly, and for a manager that begins anew.
#include <string>

#include "assessors/registry.h"
#include "daemon/journal_reading.h"
#include "dispatcher/replay.h"
#include "tests/fuzz/fuzz.h"
#include "tuners/registry.h"

using namespace attune;

constexpr std::string_view kLetters = "?hsbctank???????e";  // by RecordKind

static std::unique_ptr<WorkerThreads> make_workers() {
  static const ManualClock clock;
  auto tuner = make_tuner(builtin_tuners(), "TPE", {{"seed", 1}}, {}, 1).value();
  auto assessor = make_assessor(builtin_assessors(), "Medianstop", json::object(), {}, 1).value();
  return std::make_unique<WorkerThreads>(
      TuneWorker(Session(std::move(tuner.tuner), Objective{"default", false}, Log()), Log()),
      AssessWorker(std::move(assessor), Log()), WorkerThreads::Limits{}, clock);
}

static void go_on(const std::string& journal, std::uint64_t received) {
  const auto workers = make_workers();
  DispatcherOptions options{.capabilities = {.sync = true}, .has_assessor = true};
  options.limits.request = 20;
  Dispatcher dispatcher(options, *workers, Log());
  RecordScanner records(journal);
  const auto header = records.next();
  if (!header || !*header) return;
  Replay replay(dispatcher, *workers, received);
  if (!replay.run(records)) return;
  replay.answers_above();
  ATTUNE_CHECK(replay.after_snapshot() <= journal.size());
  ATTUNE_CHECK(records.end_of_good() == journal.size());
  [[maybe_unused]] const auto restarted = replay.restart();  // an error is one more answer
}

FUZZ_TARGET(input) {
  std::string journal;
  encode_record(RecordKind::header, "{}", journal);
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(line.size() + 1, input.size()));
    const auto kind = line.empty() ? kLetters.npos : kLetters.find(line[0]);
    if (kind == kLetters.npos || kind == 0) continue;
    encode_record(static_cast<RecordKind>(kind), line.substr(1), journal);
  }
  read_journal(journal);
  for (const std::uint64_t received : {0, 2}) go_on(journal, received);
}
