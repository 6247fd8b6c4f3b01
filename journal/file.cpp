#include "journal/file.h"

#include <filesystem>

#include "base/check.h"
#include "journal/file_impl.h"

namespace attune {

JournalFile::JournalFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JournalFile::~JournalFile() = default;

Result<std::unique_ptr<JournalFile>> JournalFile::create(FileSystem& files, Options options,
                                                         std::function<void()> ready, Log log) {
  TRY(files.make_directories(directory_of(options.path)));
  UniqueFd fd = TRY(open_locked(files, options.path, /*create=*/true));
  const bool longer = TRY(files.size(fd.get(), options.path)) > 0;
  return std::unique_ptr<JournalFile>(new JournalFile(std::make_unique<Impl>(
      files, std::move(options), std::move(fd), 0, longer, std::move(ready), std::move(log))));
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
  auto impl =
      std::make_unique<Impl>(files, std::move(options), std::move(existing.file), size,
                             size < existing.bytes.size(), std::move(ready), std::move(log));
  impl->set_snapshot(size - after_snapshot, size - after_snapshot);
  return std::unique_ptr<JournalFile>(new JournalFile(std::move(impl)));
}

void JournalFile::append(JournalRecord record) { impl_->append(record); }
std::uint64_t JournalFile::position() const { return impl_->position(); }
void JournalFile::flush() { impl_->flush(); }
std::uint64_t JournalFile::durable() const { return impl_->durable(); }
std::size_t JournalFile::backlog() const { return impl_->backlog(); }
bool JournalFile::full(std::size_t most) const { return impl_->full(most); }
const std::string& JournalFile::trouble() const { return impl_->trouble(); }
void JournalFile::tick() { impl_->tick(); }
bool JournalFile::needs_tick() const { return impl_->needs_tick(); }
void JournalFile::poll() { impl_->poll(); }
bool JournalFile::busy() const { return impl_->busy(); }
void JournalFile::begin_snapshot() { impl_->begin_snapshot(); }
void JournalFile::write_snapshot(json header, json snapshot, std::unique_ptr<KeptRecords> kept) {
  impl_->write_snapshot({std::move(header), std::move(snapshot), std::move(kept)});
}
bool JournalFile::writing_snapshot() const { return impl_->writing_snapshot(); }
std::uint64_t JournalFile::bytes_since_snapshot() const { return impl_->bytes_since_snapshot(); }
std::uint64_t JournalFile::snapshot_bytes() const { return impl_->snapshot_bytes(); }
Result<void> JournalFile::close() { return impl_->close(); }

}  // namespace attune
