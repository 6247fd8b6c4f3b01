#include "study/study_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/atomic_file.h"

namespace attune {
namespace {

std::unexpected<Error> failed(const std::string& what, const std::string& path) {
  return fail(what + " " + path + ": " + std::strerror(errno));
}

Result<void> lock(int fd, const std::string& path) {
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return {};
  if (errno != EWOULDBLOCK) return failed("cannot lock", path);
  return fail(path + " is in use by a study; one at a time may write to it");
}

// Without this a crash of the machine may take the name of a new file away.
Result<void> flush_directory_of(const std::string& path) {
  std::string directory = std::filesystem::path(path).parent_path().string();
  if (directory.empty()) directory = ".";
  const UniqueFd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened || ::fsync(opened.get()) != 0) return failed("cannot flush", directory);
  return {};
}

}  // namespace

StudyFile::StudyFile(UniqueFd fd, std::string path, Durability durability)
    : fd_(std::move(fd)), path_(std::move(path)), durability_(durability), synced_(clock_.now()) {}

StudyFile::~StudyFile() {
  if (durability_ == Durability::each_second) ::fdatasync(fd_.get());
}

Result<std::unique_ptr<StudyFile>> StudyFile::locked(const std::string& path, int flags,
                                                     Durability durability) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | flags, 0644));
  if (!fd) return failed("cannot open", path);
  std::unique_ptr<StudyFile> file(new StudyFile(std::move(fd), path, durability));
  TRY(lock(file->fd_.get(), path));
  return file;
}

Result<UniqueFd> StudyFile::keep_out(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return fd;  // nobody has it; or whoever wants to write there will hear why not
  TRY(lock(fd.get(), path));
  return fd;
}

Result<std::unique_ptr<StudyFile>> StudyFile::create(const std::string& path,
                                                     Durability durability) {
  auto file = TRY(locked(path, O_CREAT, durability));
  struct stat status = {};
  if (::fstat(file->fd_.get(), &status) != 0) return failed("cannot look at", path);
  if (status.st_size > 0) {
    return fail(path + " exists already: Study::open() or IfExists::continue_ goes on with it");
  }
  if (durability != Durability::never) TRY(flush_directory_of(path));
  return file;
}

Result<std::unique_ptr<StudyFile>> StudyFile::open(const std::string& path, Durability durability) {
  return locked(path, 0, durability);
}

Result<std::string> StudyFile::read() const { return read_file(path_); }

Result<void> StudyFile::truncate(std::size_t length) {
  if (::ftruncate(fd_.get(), static_cast<off_t>(length)) != 0)
    return failed("cannot shorten", path_);
  return {};
}

Result<void> StudyFile::append(std::string_view lines) {
  const off_t before = ::lseek(fd_.get(), 0, SEEK_END);
  while (!lines.empty()) {
    const ssize_t n = ::write(fd_.get(), lines.data(), lines.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int reason = errno;
      // If not even this can be done, the half line is dropped as torn at the next opening.
      [[maybe_unused]] const int undone = before >= 0 ? ::ftruncate(fd_.get(), before) : 0;
      errno = reason;
      return failed("cannot write to", path_);
    }
    lines.remove_prefix(static_cast<std::size_t>(n));
  }
  return sync();
}

Result<void> StudyFile::sync() {
  if (durability_ == Durability::never) return {};
  const double now = clock_.now();
  if (durability_ == Durability::each_second && now - synced_ < 1) return {};
  synced_ = now;
  if (::fdatasync(fd_.get()) != 0) return failed("cannot flush", path_);
  return {};
}

}  // namespace attune
