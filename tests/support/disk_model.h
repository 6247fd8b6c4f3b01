#pragma once
// What a disk holds after the power has gone, taken at its worst: of a file what a flush that
// succeeded has brought there, and of a directory the names at its last flush. What a failed flush
// was to bring is lost, and a later flush that succeeds does not bring it either, as on Linux.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "os/file_system.h"

namespace attune {

// Told of each call by FaultyFiles, one at a time.
class DiskModel {
 public:
  void opened(int fd, const std::string& path, bool created) {
    paths_.insert(path);
    const auto [inode, size] = look(fd);
    auto& node = nodes_[inode];
    if (!node) {
      node = std::make_shared<Node>();
      // What was there before the test is on the disk, and so is its name.
      if (!created) {
        copy(fd, 0, size, *node);
        names_[path] = node;
      }
    } else if (created) {
      node = std::make_shared<Node>();  // the number of a file that is gone
    }
  }
  void wrote(int fd, std::uint64_t from, std::uint64_t to) {
    node(fd).dirty.emplace_back(from, to);
  }
  void truncated(int fd, std::uint64_t size) {
    std::string& bytes = node(fd).bytes;
    bytes.resize(std::min<std::size_t>(bytes.size(), size));
  }
  // What is written while it runs may not be on the disk when it is done.
  void flush_begins(int fd) { std::swap(node(fd).flushing, node(fd).dirty); }
  void flush_ends(int fd, bool well) {
    Node& file = node(fd);
    for (const auto& [from, to] : std::exchange(file.flushing, {})) {
      if (well) copy(fd, from, to, file);
    }
  }
  void directory_flushed(const std::string& directory) {
    for (const std::string& path : paths_) {
      if (directory_of(path) != directory) continue;
      if (const auto found = named(path)) {
        names_[path] = found;
      } else {
        names_.erase(path);
      }
    }
  }
  void renamed(const std::string& to) { paths_.insert(to); }

  // What may be at `path`; nothing: no file.
  std::vector<std::optional<std::string>> after_power_loss(const std::string& path) const {
    std::vector<std::optional<std::string>> possible;
    const auto name = names_.find(path);
    const auto flushed = name == names_.end() ? nullptr : name->second;
    const auto present = named(path);
    for (const auto& file : {flushed, present}) {
      possible.push_back(file ? std::optional(file->bytes) : std::nullopt);
    }
    return possible;
  }

 private:
  using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  struct Node {
    std::string bytes;  // on the disk
    Ranges dirty, flushing;
  };

  static std::pair<ino_t, std::uint64_t> look(int fd) {
    struct stat status{};
    ::fstat(fd, &status);
    return {status.st_ino, static_cast<std::uint64_t>(status.st_size)};
  }
  Node& node(int fd) { return *nodes_.at(look(fd).first); }
  std::shared_ptr<Node> named(const std::string& path) const {
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0) return nullptr;
    const auto found = nodes_.find(status.st_ino);
    return found == nodes_.end() ? nullptr : found->second;
  }
  static void copy(int fd, std::uint64_t from, std::uint64_t to, Node& node) {
    std::string bytes = read_range(real_files(), fd, "", from, to).value();
    if (bytes.empty()) return;
    node.bytes.resize(std::max<std::size_t>(node.bytes.size(), from + bytes.size()));
    node.bytes.replace(from, bytes.size(), bytes);
  }

  std::map<ino_t, std::shared_ptr<Node>> nodes_;
  std::set<std::string> paths_;                         // that were ever used
  std::map<std::string, std::shared_ptr<Node>> names_;  // on the disk
};

}  // namespace attune
