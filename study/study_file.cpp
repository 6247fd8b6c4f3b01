#include "study/study_file.h"

#include <utility>

#include "os/atomic_file.h"

namespace attune {
namespace {

Result<void> lock(FileSystem& files, int fd, const std::string& path) {
  if (TRY(files.lock(fd, path))) return {};
  return fail(path + " is in use by a study; one at a time may write to it");
}

}  // namespace

StudyFile::StudyFile(FileSystem& files, UniqueFd fd, std::string path, Durability durability)
    : files_(files),
      fd_(std::move(fd)),
      path_(std::move(path)),
      durability_(durability),
      synced_(clock_.now()) {}

StudyFile::~StudyFile() {
  // No caller is left to get the error.
  if (durability_ == Durability::each_second) {
    [[maybe_unused]] const auto flushed = files_.flush(fd_.get(), path_);
  }
}

Result<std::unique_ptr<StudyFile>> StudyFile::locked(FileSystem& files, const std::string& path,
                                                     bool create, Durability durability) {
  UniqueFd fd =
      TRY(files.open(path, {.write = true, .create = create, .follow = true, .mode = 0644}));
  std::unique_ptr<StudyFile> file(new StudyFile(files, std::move(fd), path, durability));
  TRY(lock(files, file->fd_.get(), path));
  file->size_ = TRY(files.size(file->fd_.get(), path));
  return file;
}

Result<UniqueFd> StudyFile::keep_out(const std::string& path) {
  auto fd = real_files().open(path, {.follow = true});
  // If it cannot be opened, either it does not exist, or the later write gives the reason.
  if (!fd) return UniqueFd();
  TRY(lock(real_files(), fd->get(), path));
  return fd;
}

Result<std::unique_ptr<StudyFile>> StudyFile::create(const std::string& path, Durability durability,
                                                     FileSystem& files) {
  auto file = TRY(locked(files, path, true, durability));
  if (file->size_ > 0) {
    return fail(path + " exists already: Study::open() or IfExists::continue_ goes on with it");
  }
  // Without this a crash of the machine may take the name of a new file away.
  if (durability != Durability::never) TRY(files.flush_directory(directory_of(path)));
  return file;
}

Result<std::unique_ptr<StudyFile>> StudyFile::open(const std::string& path, Durability durability,
                                                   FileSystem& files) {
  return locked(files, path, false, durability);
}

Result<std::string> StudyFile::read() const { return read_file(path_); }

Result<void> StudyFile::truncate(std::size_t length) {
  TRY(files_.truncate(fd_.get(), path_, length));
  size_ = length;
  return {};
}

Result<void> StudyFile::append(std::string_view lines) {
  if (auto written = write_all(files_, fd_.get(), path_, lines, size_); !written) {
    // If not even this can be done, the half line is dropped as torn at the next opening.
    [[maybe_unused]] const auto undone = files_.truncate(fd_.get(), path_, size_);
    return written;
  }
  size_ += lines.size();
  return sync();
}

Result<void> StudyFile::sync() {
  if (durability_ == Durability::never) return {};
  const double now = clock_.now();
  if (durability_ == Durability::each_second && now - synced_ < 1) return {};
  synced_ = now;
  return files_.flush(fd_.get(), path_);
}

}  // namespace attune
