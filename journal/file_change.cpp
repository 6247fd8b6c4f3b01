// Replaces the journal by another file: a shorter one that begins with a snapshot, or a full copy.
// Steps and threads: file.h.
#include <utility>

#include "base/check.h"
#include "journal/file.h"

namespace attune {
namespace {

// Bytes. With less than this left to copy, the files change places. Nothing becomes durable
// meanwhile, so answers wait for as long as that copy takes.
constexpr std::uint64_t kSmallRest = 256 << 10;
// After so many rounds the files change places anyway: the io thread may write faster than we copy.
constexpr int kMostRounds = 8;
// Seconds. A full copy that failed within this time is tried again at the next tick.
constexpr double kQuick = 0.25;

}  // namespace

void JournalFile::begin_snapshot() {
  if (new_file_ && new_file_->is_snapshot) return;
  marked_ = true;
  mark_ = tail_.appended();
}

void JournalFile::write_snapshot(json header, json snapshot, std::unique_ptr<KeptRecords> kept) {
  if (!std::exchange(marked_, false) || new_file_) return;
  write_out();
  // A snapshot must not replace a file that fails: rewrite() must repair it first.
  if (!trouble_.empty() || tail_.written() < mark_) return;
  new_file_.emplace(/*snapshot=*/true);
  new_file_->mark = mark_;
  new_file_->content = {std::move(header), std::move(snapshot), std::move(kept)};
  start(Step::prepare);
}

void JournalFile::rewrite() {
  // A snapshot that is being written will replace the broken file, too.
  if (new_file_ || flusher_.busy() || clock_.now() < retry_at_) return;
  tried_at_ = clock_.now();
  new_file_.emplace(/*snapshot=*/false);
  start(Step::change);
}

void JournalFile::start(Step step) {
  NewJournal& made = *new_file_;
  const std::uint64_t copied = made.reach;
  made.step = step;
  made.reach = step == Step::prepare ? made.mark : tail_.written();
  const bool whole = step == Step::prepare || !made.is_snapshot;
  writer_.start([this, &made, former = tail_.file(),
                 bytes = whole ? tail_.until(made.reach) : tail_.between(copied, made.reach)] {
    return run(made, bytes, former->get());
  });
}

Result<void> JournalFile::run(NewJournal& made, const JournalBytes& bytes, int former) {
  const std::string& path = options_.path;
  if (!made.file) made.file = TRY(Replacement::begin(files_, path, abandoned_));
  if (made.step == Step::prepare) {
    TRY(write_snapshot_part(files_, path, *std::exchange(made.content, std::nullopt), bytes,
                            *made.file));
    made.begins = made.file->size();
  } else {
    TRY(made.file->append(bytes));
  }
  if (flushes()) TRY(made.file->flush());
  if (made.step != Step::change) return {};
  TRY(made.file->take_place(former));
  if (!flushes()) return {};
  auto named = files_.flush_directory(directory_of(path));
  if (!named) made.unflushed = named.error();
  return {};
}

void JournalFile::stepped(const Result<void>& done) {
  if (!done) {
    gave_up(done.error().message);
  } else if (new_file_->step == Step::change) {
    changed();
  }
}

void JournalFile::next_step() {
  if (tail_.written() - new_file_->reach > kSmallRest && new_file_->rounds < kMostRounds) {
    ++new_file_->rounds;
    start(Step::catch_up);
  } else if (!flusher_.busy()) {
    start(Step::change);
  }
}

void JournalFile::changed() {
  const NewJournal made = std::move(*new_file_);
  new_file_.reset();
  ATTUNE_CHECK(made.reach == tail_.written());
  auto file = std::make_shared<const UniqueFd>(made.file->release());
  if (made.is_snapshot) {
    tail_.move(std::move(file), made.mark, made.begins);
    since_ = made.mark;
    snapshot_bytes_ = made.begins;
    if (std::exchange(snapshot_failing_, false)) log_.info("snapshots are written again");
  } else {
    tail_.move(std::move(file));
  }
  tail_.forget(made.reach);
  longer_ = false;
  broken_.clear();
  placed_ = made.reach;
  // The rename may not be on the disk: after a crash of the machine the old file may be back.
  if (made.unflushed) return broke(made.unflushed->message);
  named_ = true;
  synced_ = made.reach;
  write_out();
  if (options_.durability == Durability::always) sync();
}

void JournalFile::gave_up(const std::string& reason) {
  const bool snapshot = new_file_->is_snapshot;
  new_file_.reset();
  if (!snapshot) {
    // A long file takes long to copy. Pause for four times as long as the attempt took, so that
    // failing attempts use at most a fifth of the disk's time.
    const double took = clock_.now() - tried_at_;
    if (took > kQuick) retry_at_ = clock_.now() + 4 * took;
    return broke(reason);
  }
  if (!abandoned_ && !std::exchange(snapshot_failing_, true)) {
    log_.error("no snapshot can be written, the journal grows on without one: {}", reason);
  }
  write_out();
  if (options_.durability == Durability::always) sync();
}

}  // namespace attune
