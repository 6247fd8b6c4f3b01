#pragma once
// The real files, with faults: a call fails that was named by its number, writes come out short, a
// call waits until the test lets it go on. Any thread.
//
// To try a fault at every place of a scenario:
//   for (std::size_t n = 1;; ++n) {
//     FaultyFiles files;
//     files.fail({.nth = n});
//     ... the scenario ...
//     if (files.count() < n) break;  // it makes fewer calls
//   }
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>

#include "base/check.h"
#include "tests/support/disk_model.h"

namespace attune {

enum class FileCall {
  open,
  write,
  read,
  size,
  truncate,
  flush,
  is_at,
  lock,
  rename,
  remove,
  make_directories,
  flush_directory,
};
inline constexpr std::size_t kFileCalls = 12;

struct Fault {
  std::optional<FileCall> call = {};  // nothing: all kinds are counted together
  std::size_t nth = 1;                // counted from the making of the FaultyFiles
  int error = ENOSPC;
  bool lasting = false;         // every one from then on fails, until heal()
  std::size_t short_bytes = 0;  // of a write: these are written first
};

class FaultyFiles final : public FileSystem {
 public:
  struct Made {
    FileCall call;
    std::string path;
  };

  void fail(Fault fault) {
    const std::lock_guard guard(mutex_);
    fault_ = fault;
  }
  // The next call of the kind.
  void fail_next(FileCall call, int error, bool lasting = false) {
    const std::lock_guard guard(mutex_);
    fault_ = Fault{.call = call, .nth = counts_[index(call)] + 1, .error = error};
    fault_->lasting = lasting;
  }
  void heal() {
    const std::lock_guard guard(mutex_);
    fault_.reset();
    failing_ = false;
  }
  void limit_writes(std::size_t bytes) {
    const std::lock_guard guard(mutex_);
    write_limit_ = bytes;
  }

  // The next call of the kind waits: it is held until release(). `held` is called then.
  void hold(FileCall call) {
    const std::lock_guard guard(mutex_);
    to_hold_.insert(call);
  }
  void on_held(std::function<void()> held) { on_held_ = std::move(held); }  // before any call
  bool held() const {
    const std::lock_guard guard(mutex_);
    return held_;
  }
  void await_held() {
    std::unique_lock guard(mutex_);
    ATTUNE_CHECK(changed_.wait_for(guard, kDeadline, [this] { return held_; }));
  }
  void release() {
    const std::lock_guard guard(mutex_);
    held_ = false;
    changed_.notify_all();
  }

  std::size_t count() const {
    const std::lock_guard guard(mutex_);
    return made_.size();
  }
  std::size_t count(FileCall call) const {
    const std::lock_guard guard(mutex_);
    return counts_[index(call)];
  }
  std::vector<Made> calls() const {
    const std::lock_guard guard(mutex_);
    return made_;
  }
  std::vector<std::optional<std::string>> after_power_loss(const std::string& path) const {
    const std::lock_guard guard(mutex_);
    return disk_.after_power_loss(path);
  }

  Result<UniqueFd> open(const std::string& path, Opening opening) override {
    if (auto fault = enter(FileCall::open, path)) return error("open", path, *fault);
    const std::lock_guard guard(mutex_);
    const bool there = std::filesystem::exists(std::filesystem::symlink_status(path));
    auto fd = real_files().open(path, opening);
    if (fd && opening.write) disk_.opened(fd->get(), path, !there);
    if (fd && opening.truncate) disk_.truncated(fd->get(), 0);
    return fd;
  }
  Result<std::size_t> write_at(int fd, const std::string& path, std::string_view bytes,
                               std::uint64_t offset) override {
    std::size_t most = bytes.size();
    if (auto fault = enter(FileCall::write, path, &most)) return error("write", path, *fault);
    const std::lock_guard guard(mutex_);
    auto n = real_files().write_at(fd, path, bytes.substr(0, most), offset);
    if (n) disk_.wrote(fd, offset, offset + *n);
    return n;
  }
  Result<std::size_t> read_at(int fd, const std::string& path, char* to, std::size_t size,
                              std::uint64_t offset) override {
    if (auto fault = enter(FileCall::read, path)) return error("read", path, *fault);
    return real_files().read_at(fd, path, to, size, offset);
  }
  Result<std::uint64_t> size(int fd, const std::string& path) override {
    if (auto fault = enter(FileCall::size, path)) return error("look at", path, *fault);
    return real_files().size(fd, path);
  }
  Result<void> truncate(int fd, const std::string& path, std::uint64_t size) override {
    if (auto fault = enter(FileCall::truncate, path)) return error("shorten", path, *fault);
    const std::lock_guard guard(mutex_);
    disk_.truncated(fd, size);
    return real_files().truncate(fd, path, size);
  }
  // The machine of a test keeps its power: the flushes are the model's alone.
  Result<void> flush(int fd, const std::string& path) override {
    {
      const std::lock_guard guard(mutex_);
      disk_.flush_begins(fd);
    }
    const auto fault = enter(FileCall::flush, path);
    const std::lock_guard guard(mutex_);
    disk_.flush_ends(fd, !fault);
    if (fault) return error("flush", path, *fault);
    return {};
  }
  Result<bool> is_at(int fd, const std::string& path) override {
    if (auto fault = enter(FileCall::is_at, path)) return error("look at", path, *fault);
    return real_files().is_at(fd, path);
  }
  Result<bool> lock(int fd, const std::string& path) override {
    if (auto fault = enter(FileCall::lock, path)) return error("lock", path, *fault);
    return real_files().lock(fd, path);
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    if (auto fault = enter(FileCall::rename, to)) return error("rename to", to, *fault);
    const std::lock_guard guard(mutex_);
    disk_.renamed(to);
    return real_files().rename(from, to);
  }
  Result<void> remove(const std::string& path) override {
    if (auto fault = enter(FileCall::remove, path)) return error("remove", path, *fault);
    return real_files().remove(path);
  }
  Result<void> make_directories(const std::string& path) override {
    if (auto fault = enter(FileCall::make_directories, path)) {
      return error("make the directory", path, *fault);
    }
    std::error_code wrong;  // without the real one's flushes
    std::filesystem::create_directories(path, wrong);
    if (wrong) return error("make the directory", path, wrong.value());
    return {};
  }
  Result<void> flush_directory(const std::string& path) override {
    if (auto fault = enter(FileCall::flush_directory, path)) return error("flush", path, *fault);
    if (!std::filesystem::is_directory(path)) return error("flush", path, ENOENT);
    const std::lock_guard guard(mutex_);
    disk_.directory_flushed(path);
    return {};
  }

 private:
  static constexpr std::chrono::seconds kDeadline{60};

  static std::size_t index(FileCall call) { return static_cast<std::size_t>(call); }
  static std::unexpected<Error> error(const std::string& call, const std::string& path, int cause) {
    return attune::fail("cannot " + call + " " + path + ": " + std::strerror(cause));
  }

  // The error with which the call fails. `most`: what a write may take of its bytes.
  std::optional<int> enter(FileCall call, const std::string& path, std::size_t* most = nullptr) {
    std::unique_lock guard(mutex_);
    made_.push_back({call, path});
    const std::size_t nth = ++counts_[index(call)];
    if (to_hold_.erase(call) > 0) {
      held_ = true;
      changed_.notify_all();
      if (on_held_) on_held_();
      ATTUNE_CHECK(changed_.wait_for(guard, kDeadline, [this] { return !held_; }));
    }
    if (most) *most = std::min(*most, write_limit_);
    if (!fault_ || (fault_->call && *fault_->call != call)) return {};
    if (!failing_ && (fault_->call ? nth : made_.size()) < fault_->nth) return {};
    if (most && fault_->short_bytes > 0 && !failing_) {
      // The next one fails: the system, too, says first how far it has come.
      failing_ = true;
      *most = std::min(*most, fault_->short_bytes);
      return {};
    }
    const int cause = fault_->error;
    failing_ = fault_->lasting;
    if (!fault_->lasting) fault_.reset();
    return cause;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Fault> fault_;
  bool failing_ = false;
  std::size_t write_limit_ = static_cast<std::size_t>(-1);
  std::set<FileCall> to_hold_;
  bool held_ = false;
  std::function<void()> on_held_;
  std::array<std::size_t, kFileCalls> counts_{};
  std::vector<Made> made_;
  DiskModel disk_;
};

}  // namespace attune
