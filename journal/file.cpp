#include "journal/file.h"

#include <filesystem>

#include "base/check.h"

namespace attune {

JournalFile::JournalFile(FileSystem& files, Options options, UniqueFd file, std::uint64_t size,
                         bool longer, std::function<void()> ready, Log log)
    : files_(files),
      options_(std::move(options)),
      log_(std::move(log)),
      tail_(std::make_shared<const UniqueFd>(std::move(file)), size),
      longer_(longer),
      placed_(size),
      flusher_("journal flush", ready),
      writer_("journal writer", std::move(ready)) {}

JournalFile::~JournalFile() { abandoned_ = true; }

Result<std::unique_ptr<JournalFile>> JournalFile::create(FileSystem& files, Options options,
                                                         std::function<void()> ready, Log log) {
  TRY(files.make_directories(directory_of(options.path)));
  UniqueFd fd = TRY(open_locked(files, options.path, /*create=*/true));
  const bool longer = TRY(files.size(fd.get(), options.path)) > 0;
  return std::unique_ptr<JournalFile>(new JournalFile(files, std::move(options), std::move(fd), 0,
                                                      longer, std::move(ready), std::move(log)));
}

Result<std::optional<JournalFile::Existing>> JournalFile::lock_and_read(
    FileSystem& files, const std::string& path, std::chrono::milliseconds patience) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) return std::nullopt;
  Existing existing;
  existing.file = TRY(open_locked(files, path, /*create=*/false, patience));
  existing.bytes = TRY(read_all(files, existing.file.get(), path));
  return existing;
}

Result<std::unique_ptr<JournalFile>> JournalFile::open(FileSystem& files, Options options,
                                                       Existing existing, std::uint64_t size,
                                                       std::uint64_t after_snapshot,
                                                       std::function<void()> ready, Log log) {
  ATTUNE_CHECK(after_snapshot <= size && size <= existing.bytes.size());
  std::unique_ptr<JournalFile> journal(
      new JournalFile(files, std::move(options), std::move(existing.file), size,
                      size < existing.bytes.size(), std::move(ready), std::move(log)));
  journal->since_ = journal->snapshot_bytes_ = size - after_snapshot;
  return journal;
}

void JournalFile::flush() {
  if (trouble_.empty()) write_out();  // else the next tick() tries: a full disk stays full a while
  if (options_.durability == Durability::always || unsynced() > kMostUnsynced) sync();
}

void JournalFile::tick() {
  poll();
  // A write that fails may be the first sign of a file that is not there any more.
  if (!write_error_.empty() && broken_.empty() && !changing()) look();
  if (!broken_.empty()) return rewrite();
  write_out();
  sync();
}

void JournalFile::poll() {
  if (const auto flushed = flusher_.take()) synced(*flushed);
  if (const auto step = writer_.take()) stepped(*step);
  if (waits_to_change()) next_step();
}

Result<void> JournalFile::close() {
  abandoned_ = new_file_ && new_file_->is_snapshot;
  marked_ = false;
  // A round finds out what is wrong, one writes the file anew, one flushes.
  for (int round = 0; round < 4; ++round) {
    wait();
    abandoned_ = false;
    if (!needs_tick()) return {};
    retry_at_ = 0;
    tick();
  }
  wait();
  if (!needs_tick()) return {};
  return fail(trouble_.empty() ? options_.path + " is not all on the disk" : trouble_);
}

void JournalFile::wait() {
  while (busy()) {
    flusher_.wait();
    poll();
    writer_.wait();
    poll();
  }
}

void JournalFile::write_out() {
  if (changing() || !broken_.empty()) return;
  const auto written = write_pending();
  write_error_ = written ? "" : written.error().message;
  // Looks whether the file still has its name: nobody could find what was written to a deleted one
  // once this process has ended.
  if (placed_ < tail_.written()) look();
  if (!flushes()) tail_.forget(placed_);
  settle();
}

void JournalFile::look() {
  const auto there = files_.is_at(tail_.fd(), options_.path);
  if (!there) return broke(there.error().message);
  if (!*there) return broke(options_.path + " was deleted or replaced");
  placed_ = tail_.written();
}

Result<void> JournalFile::write_pending() {
  if (tail_.unwritten().empty()) return {};
  if (longer_) TRY(files_.truncate(tail_.fd(), options_.path, tail_.offset()));
  longer_ = false;
  while (!tail_.unwritten().empty()) {
    const std::size_t n =
        TRY(files_.write_at(tail_.fd(), options_.path, tail_.unwritten(), tail_.offset()));
    if (n == 0) return fail("cannot write " + options_.path + ": not a byte of it was taken");
    tail_.wrote(n);
  }
  return {};
}

void JournalFile::sync() {
  // A change of files that waits for the flusher would wait for ever if there was always a flush.
  if (flusher_.busy() || changing() || waits_to_change() || !broken_.empty()) return;
  if (synced_ >= tail_.written()) return;
  sync_to_ = tail_.written();
  flusher_.start(
      [this, file = tail_.file(), named = named_] { return bring_to_disk(file->get(), named); });
}

Result<void> JournalFile::bring_to_disk(int fd, bool named) const {
  if (flushes()) TRY(files_.flush(fd, options_.path));
  if (flushes() && !named) TRY(files_.flush_directory(directory_of(options_.path)));
  if (TRY(files_.is_at(fd, options_.path))) return {};
  return fail(options_.path + " was deleted or replaced");
}

void JournalFile::synced(const Result<void>& flushed) {
  if (!flushed) return broke(flushed.error().message);
  synced_ = sync_to_;
  named_ = true;
  if (flushes()) tail_.forget(synced_);
  if (options_.durability == Durability::always) sync();  // what was written meanwhile
}

void JournalFile::broke(const std::string& reason) {
  broken_ = reason;
  settle();
}

void JournalFile::settle() {
  std::string now;
  if (!broken_.empty()) {
    now = broken_ + "; the journal is written anew, which is tried each second";
  } else if (!write_error_.empty()) {
    now = write_error_ + "; make room, or make it writable: it is tried again each second";
  }
  if (trouble_.empty() && !now.empty()) log_.error("nothing new can be remembered: {}", now);
  if (!trouble_.empty() && now.empty()) log_.info("{} is written again, and whole", options_.path);
  trouble_ = std::move(now);
}

}  // namespace attune
