#pragma once
// Reports when files grow or are touched: inotify on an io_context.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/result.h"

namespace attune {

class FileWatch {
 public:
  // Called with a key that add() returned when its file changed; with kAll when the kernel's queue
  // overflowed, so that any of the files may have changed.
  using OnChange = std::function<void(int key)>;
  static constexpr int kAll = -1;

  static Result<std::unique_ptr<FileWatch>> create(boost::asio::io_context& io, OnChange on_change);
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  Result<int> add(const std::filesystem::path& file);
  void remove(int key);

 private:
  FileWatch(boost::asio::io_context& io, int fd, OnChange on_change);
  void wait();
  void read();

  boost::asio::posix::stream_descriptor inotify_;
  OnChange on_change_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // see ChildProcess
};

}  // namespace attune
