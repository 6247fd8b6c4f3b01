#include "journal/place.h"

#include <algorithm>
#include <thread>

#include "os/trust.h"

namespace attune {
namespace {

constexpr std::size_t kPiece = 1 << 20;
constexpr std::chrono::milliseconds kPause{20};

Result<void> lock(FileSystem& files, int fd, const std::string& path) {
  if (TRY(files.lock(fd, path))) return {};
  return fail(path +
              " is in use by another process, most likely an attuned or a coordinator that runs; "
              "end it, or "
              "give this one another directory");
}

}  // namespace

Result<UniqueFd> open_locked(FileSystem& files, const std::string& path, bool create,
                             std::chrono::milliseconds patience) {
  // The former holder of the lock may have renamed another file to `path` before it released the
  // lock. Then ours locks a file that is no longer there: open again.
  for (int tries = 0; tries < 10; ++tries) {
    UniqueFd fd = TRY(files.open(path, {.write = true, .create = create}));
    // A replay executes what the journal says, so only we may have written it.
    TRY(check_trusted(fd.get(), path));
    TRY(check_trusted(std::filesystem::path(directory_of(path))));
    auto locked = lock(files, fd.get(), path);
    for (; !locked && patience > kPause; patience -= kPause) {  // why polling: see place.h
      std::this_thread::sleep_for(kPause);
      locked = lock(files, fd.get(), path);
    }
    TRY(locked);
    if (TRY(files.is_at(fd.get(), path))) return fd;
  }
  return fail(path + " is replaced by another process again and again");
}

Result<std::unique_ptr<Replacement>> Replacement::begin(FileSystem& files, const std::string& path,
                                                        const std::atomic<bool>& abandoned) {
  TRY(files.make_directories(directory_of(path)));
  std::unique_ptr<Replacement> made(new Replacement(files, path, abandoned));
  // A killed daemon may have left one. A symbolic link of somebody else is removed, not followed.
  TRY(files.remove(made->temporary_));
  made->fd_ = TRY(files.open(made->temporary_, {.write = true, .create = true, .exclusive = true}));
  TRY(lock(files, made->fd_.get(), made->temporary_));
  return made;
}

Replacement::~Replacement() {
  if (placed_ || !fd_) return;
  [[maybe_unused]] const auto removed = files_.remove(temporary_);  // else the next one does it
}

Result<void> Replacement::append(std::string_view bytes) {
  while (!bytes.empty()) {
    if (abandoned_) return fail("given up");
    const std::string_view piece = bytes.substr(0, kPiece);
    TRY(write_all(files_, fd_.get(), temporary_, piece, size_));
    size_ += piece.size();
    bytes.remove_prefix(piece.size());
  }
  return {};
}

Result<void> Replacement::append(const JournalBytes& bytes) {
  for (std::uint64_t at = bytes.from; at < bytes.to;) {
    const std::uint64_t end = std::min<std::uint64_t>(at + kPiece, bytes.to);
    const std::string piece = TRY(read_range(files_, bytes.file->get(), path_, at, end));
    if (piece.empty()) return fail("cannot read " + path_ + ": it has become shorter");
    TRY(append(piece));
    at += piece.size();
  }
  return append(bytes.memory);
}

Result<void> Replacement::flush() { return files_.flush(fd_.get(), temporary_); }

Result<void> Replacement::take_place(int former) {
  UniqueFd other;
  if (!TRY(files_.is_at(former, path_))) {
    // `path` names no file, or one that is not ours. Another running process may use that one: do
    // not replace it if it is locked. `other` holds the lock until this function returns.
    if (auto there = files_.open(path_, {})) other = *std::move(there);
    if (other) TRY(lock(files_, other.get(), path_));
  }
  TRY(files_.rename(temporary_, path_));
  placed_ = true;
  return {};
}

}  // namespace attune
