#include "dispatcher/replay.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/algorithm_failure.h"
#include "base/saved_numbers.h"
#include "dispatcher/journal_frames.h"
#include "dispatcher/journal_numbers.h"

namespace attune {
namespace {

// In the order of BeginHow. The file's word "restart" means late_restart: an earlier attuned wrote
// it.
constexpr std::array<std::string_view, 4> kHows = {"fresh", "exact", "restart", "anew"};

}  // namespace

std::string encode_begin(const Begin& begin) {
  json object = {{"how", kHows.at(static_cast<std::size_t>(begin.how))},
                 {"attuned", begin.version}};
  if (!begin.tune_notes.empty()) object["tune_notes"] = begin.tune_notes;
  if (!begin.assess_notes.empty()) object["assess_notes"] = begin.assess_notes;
  return dump_json(object);
}

Result<Begin> decode_begin(std::string_view payload) {
  const json object = TRY(parse_json(payload));
  const json how = TRY(value_at(object, "how"));
  Begin begin;
  for (std::size_t i = 0; i < kHows.size(); ++i) {
    if (how != kHows.at(i)) continue;
    begin.how = static_cast<BeginHow>(i);
    begin.version = TRY(text_at(object, "attuned"));
    if (object.contains("tune_notes")) begin.tune_notes = TRY(text_at(object, "tune_notes"));
    if (object.contains("assess_notes")) begin.assess_notes = TRY(text_at(object, "assess_notes"));
    return begin;
  }
  return fail("how a daemon began: " + dump_json(how) + " is unknown");
}

Replay::Replay(Dispatcher& dispatcher, WorkerThreads& workers, std::uint64_t received)
    : dispatcher_(dispatcher), workers_(workers), received_(received) {
  dispatcher_.attach(*this, *this);
}

std::unexpected<Error> Replay::failed(const Item& item, const std::string& what) const {
  return fail(
      fmt::format("the record \"{}\" at byte {}: {}", kind_name(item.kind), item.offset, what));
}

Result<void> Replay::advance() {
  next_ = TRY(records_->next());
  return {};
}

Result<void> Replay::run(RecordScanner& records) {
  records_ = &records;
  TRY(advance());
  while (next_) {
    const Item item = *next_;
    TRY(replay(item));
    if (!trouble_.empty()) return failed(item, trouble_);
  }
  judge();
  if (!trouble_.empty()) return fail(trouble_);
  return {};
}

Result<void> Replay::replay(const Item& item) {
  switch (item.kind) {
    case RecordKind::snapshot:
      if (begun_) return failed(item, "a snapshot can only be the second record");
      TRY(load(item));
      TRY(advance());
      after_snapshot_ = next_ ? next_->offset : records_->end_of_good();
      return {};
    case RecordKind::kept:
      if (item.payload.size() < 2) return failed(item, "a frame without a code");
      keep(0, item.payload);
      TRY(advance());
      after_snapshot_ = next_ ? next_->offset : records_->end_of_good();
      return {};
    case RecordKind::begin: {
      const auto begin = decode_begin(item.payload);
      if (!begin) return failed(item, begin.error().message);
      TRY(advance());
      replay_notes(WorkerName::tune, begin->tune_notes);
      replay_notes(WorkerName::assess, begin->assess_notes);
      if (begin->how == BeginHow::restart) TRY(restart());
      if (begin->how == BeginHow::late_restart) TRY(settle_and_restart());
      end_replay(WorkerName::tune);
      end_replay(WorkerName::assess);
      begun_ = true;
      return {};
    }
    case RecordKind::command:
      begun_ = true;
      ++commands_replayed_;
      if (item.payload.size() < 2) return failed(item, "a frame without a code");
      // If a queue is full, its limit is ignored: to make room, a worker would have to handle more
      // than the journal shows.
      if (!dispatcher_.accept(payload_frame(item.payload))) dispatcher_.release();
      return {};
    case RecordKind::tune:
    case RecordKind::assess:
      begun_ = true;
      return take_next(item.kind == RecordKind::tune ? WorkerName::tune : WorkerName::assess,
                       std::string(item.payload));
    case RecordKind::answer:
      return failed(item, fmt::format("the answer {} does not follow",
                                      printable(item.payload.substr(0, 200), 200)));
    case RecordKind::header:
    case RecordKind::edge:
      break;
  }
  return failed(item, "it cannot stand here");
}

Result<void> Replay::load(const Item& item) {
  const json state = TRY(parse_json(item.payload, {.depth = 300, .keys = 10'000'000}));
  auto load_all = [&]() -> Result<void> {
    Dispatcher::InFlight said = TRY(dispatcher_.load(state));
    const json tuner = TRY(value_at(state, "tuner"));
    const json assessor = TRY(value_at(state, "assessor"));
    // It is a repetition, too: what an algorithm could do before it must be able to do again.
    for (const WorkerName worker : {WorkerName::tune, WorkerName::assess}) replay_notes(worker, "");
    TRY(workers_.tune().load(tuner));
    TRY(workers_.assess().load(assessor));
    for (const WorkerName worker : {WorkerName::tune, WorkerName::assess}) end_replay(worker);
    tune_said_ = std::move(said.tune);
    assess_said_ = std::move(said.assess);
    return {};
  };
  try {
    if (auto loaded = load_all(); !loaded) return failed(item, loaded.error().message);
  } catch (const AlgorithmFailure& failure) {
    algorithm_failed_ = true;
    return failed(item, failure.what());
  }
  first_kept_ = dispatcher_.answers() + 1;
  begun_ = initialized_ = true;
  return {};
}

// Lets the worker handle one more message. False: its queue is empty, or something went wrong.
bool Replay::step(WorkerName worker) {
  const bool handled = workers_.step(worker);
  auto& said = worker == WorkerName::tune ? tune_said_ : assess_said_;
  while (auto output = workers_.take()) {
    if (const auto* bad = std::get_if<Failed>(&output->message)) {
      trouble_ = bad->message;
      algorithm_failed_ = bad->algorithm;
    }
    said.push_back(std::move(output->message));
  }
  return handled && trouble_.empty();
}

// Judges all queued reports before the manager's next command comes. That command may end a trial
// that a report would stop, and a trial that has ended is not killed.
void Replay::judge() {
  if (dispatcher_.options().wants_reports) return settle();
  while (step(WorkerName::assess)) {
  }
}

void Replay::settle() {
  while (step(WorkerName::assess) || step(WorkerName::tune)) {
  }
}

Result<void> Replay::take_next(WorkerName from, const std::string& notes) {
  auto& said = from == WorkerName::tune ? tune_said_ : assess_said_;
  // Without notes, too: then no message up to the one that says something had any.
  const bool steps = said.empty();
  if (steps) replay_notes(from, notes);
  while (said.empty()) {
    if (!step(from)) {
      return failed(*next_, trouble_.empty() ? "that worker has nothing to say" : trouble_);
    }
  }
  if (steps) end_replay(from);
  WorkerMessage message = std::move(said.front());
  said.pop_front();
  dispatcher_.on_worker(from, std::move(message));
  return {};
}

void Replay::replay_notes(WorkerName worker, const std::string& notes) {
  if (worker == WorkerName::tune) {
    workers_.tune().replay_notes(notes);
  } else {
    workers_.assess().replay_notes(notes);
  }
}

void Replay::end_replay(WorkerName worker) {
  if (worker == WorkerName::tune) {
    workers_.tune().end_replay();
  } else {
    workers_.assess().end_replay();
  }
}

// The dispatcher says what it would write. It must be the journal's next record; behind the last
// record it is new.
void Replay::append(JournalRecord record) {
  if (!trouble_.empty()) return;
  const bool counted =
      record.kind == RecordKind::answer && is_numbered(record.kind, record.payload);
  if (counted) keep(dispatcher_.answers(), record.payload);
  const bool ready = record.kind == RecordKind::answer && record.payload.starts_with("ID");
  initialized_ = initialized_ || ready;
  if (!next_) {
    fresh_.push_back(std::move(record));
    return;
  }
  if (next_->kind != record.kind || next_->payload != record.payload) {
    trouble_ =
        fmt::format("what follows now is not what followed then: {} {} instead of {} {} at byte {}",
                    kind_name(record.kind), printable(record.payload, 300), kind_name(next_->kind),
                    printable(next_->payload, 300), next_->offset);
    return;
  }
  if (auto advanced = advance(); !advanced) trouble_ = advanced.error().message;
}

void Replay::fatal(ExitCode, const std::string& message) {
  if (trouble_.empty()) trouble_ = message;
}

std::vector<Replay::Leftover> Replay::take_leftovers() {
  std::vector<Leftover> all;
  for (auto& message : std::exchange(assess_said_, {})) {
    all.push_back({WorkerName::assess, std::move(message)});
  }
  for (auto& message : std::exchange(tune_said_, {})) {
    all.push_back({WorkerName::tune, std::move(message)});
  }
  return all;
}

Result<void> Replay::restart() {
  workers_.drop_requests();
  return settle_and_restart();
}

Result<void> Replay::settle_and_restart() {
  tune_notes_.clear();
  assess_notes_.clear();
  // put_aside() may queue a final result, so this goes on until the workers say nothing more.
  do {
    settle();
    if (!trouble_.empty()) return fail(trouble_);
    for (const Leftover& left : take_leftovers()) {
      dispatcher_.put_aside(left.message);
      if (const auto* noted = std::get_if<Noted>(&left.message)) {
        (left.from == WorkerName::tune ? tune_notes_ : assess_notes_) += noted->notes;
      }
    }
    settle();
  } while (!tune_said_.empty() || !assess_said_.empty());
  dispatcher_.restart();
  workers_.tune().restart(dispatcher_.options().capabilities.pause);
  workers_.assess().restart();
  kept_.clear();
  first_kept_ = 1;
  return {};
}

// Keeps an answer. `number` 0: it is from before the snapshot. Those follow the snapshot, and the
// last of them has the snapshot's count of answers as its number (load() sets first_kept_ to the
// number after it). So each one moves first_kept_ one back.
void Replay::keep(std::uint64_t number, std::string_view payload) {
  if (number == 0) {
    kept_.emplace_back(payload);
    --first_kept_;
    return;
  }
  if (kept_.empty()) first_kept_ = number;
  kept_.emplace_back(payload);
  // The manager has these already.
  while (!kept_.empty() && first_kept_ <= received_) {
    kept_.pop_front();
    ++first_kept_;
  }
}

std::optional<std::vector<Frame>> Replay::answers_above() const {
  const std::uint64_t total = dispatcher_.answers();
  if (received_ > total) return std::nullopt;
  if (received_ == total) return std::vector<Frame>();
  if (kept_.empty() || first_kept_ > received_ + 1) return std::nullopt;
  std::vector<Frame> frames;
  for (std::uint64_t number = first_kept_; const std::string& payload : kept_) {
    if (number++ > received_) frames.push_back(payload_frame(payload));
  }
  return frames;
}

}  // namespace attune
